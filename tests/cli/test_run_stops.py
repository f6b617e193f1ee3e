"""`run` stops after a given number of failures, says as much as it was asked to, and keeps
sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import AGENTS, SCENARIO, Harness

MIXED = """
def mixed(brief):
    (brief.session_dir / "mine.txt").write_text("what the agent noted")
    (wrong if "wrong" in brief.options else good)(brief)
"""
NAMES = ("a", "b", "c", "d", "e")


@pytest.fixture(autouse=True)
def scenarios(folder: Path) -> None:
    """Five scenarios of two runs each: ten runs."""
    (folder / "agents.py").write_text(AGENTS + MIXED, "utf-8")
    (folder / "scenarios" / "greeting.yaml").unlink()
    for name in NAMES:
        text = SCENARIO.replace("name: greeting", f"name: {name}")
        (folder / "scenarios" / f"{name}.yaml").write_text(text, "utf-8")


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.real), "3"])
@pytest.mark.parametrize(("flags", "played"), [(["-x"], 1), (["--maxfail", "3"], 3)])
def test_it_stops_after_so_many_failures(
    harness: Harness, flags: list[str], played: int, jobs: str
) -> None:
    done = harness("run", "--target", "agents:wrong", "-j", jobs, *flags)
    assert done.returncode == 1
    *_, last = done.stdout.splitlines()
    assert last.startswith(f"10 runs: {played} failed, {10 - played} not played; ")
    rows = harness("run", "--target", "agents:wrong", "-j", jobs, "--json", *flags).stdout
    *runs, ending = map(json.loads, rows.splitlines())
    assert len(runs) == played
    assert ending.pop("reach")["runs"] == played
    assert ending == {"not_applicable": [], "version": 1, "not_played": 10 - played}


def test_as_many_failures_as_there_are_leave_nothing_out(harness: Harness) -> None:
    done = harness("run", "--target", "agents:wrong", "--maxfail", "10")
    assert "not played" not in done.stdout
    assert harness("run", "--target", "agents:good", "-x").returncode == 0


def test_the_last_failed_are_played_again(harness: Harness) -> None:
    harness("run", "--target", "agents:wrong", "--only", "b")
    again = "run", "--target", "agents:good", "--lf"
    assert harness(*again).stdout.splitlines()[-1].startswith("1 run: 1 passed")
    done = harness(*again, "--dry-run", "-q")
    assert "no run of the last time failed, so all are played" in done.stderr
    assert "10 runs" in done.stdout


@pytest.mark.real
def test_many_runs_end_with_their_causes(harness: Harness) -> None:
    said = harness("run", "--target", "agents:wrong", COLUMNS="80").stdout
    assert " 10  valid_request.V11  (defect)" in said
    assert "failed runs by their worst cause: defect 10" in said
    assert "FAIL" not in said
    assert "\x1b" not in said
    prose = (row for row in said.splitlines()[:-1] if not row.startswith("repeat:"))
    assert all(len(row) <= 80 for row in prose)
    assert harness("run", "--target", "agents:wrong", "-v").stdout.count("\nFAIL ") == 10


def test_quiet_says_failures_and_the_last_line(harness: Harness, folder: Path) -> None:
    good = harness("run", "--target", "agents:good", "-q").stdout.splitlines()
    assert good == ["10 runs: 10 passed; target agents:good; seed 0"]
    wrong = harness("run", "--target", "agents:wrong", "-q", "--only", "b*").stdout.splitlines()
    assert [row[:3] for row in wrong] == ["b  ", "  \u2717", "   ", "  \u2717", "2 r"]
    both = harness("run", "--target", "agents:good", "-q", "-v")
    assert both.returncode == 2
    assert "either --quiet or --verbose" in both.stderr


@pytest.mark.real
def test_sessions_of_failing_runs_are_kept(harness: Harness, folder: Path) -> None:
    kept = folder / ".harness" / "runs" / "a" / "baseline" / "session"
    words = ("run", "scenarios/a.yaml", "--only", "a")
    row = json.loads(harness(*words, "--target", "agents:mixed?wrong=true", "--json").stdout)
    assert (row["kept"], kept.exists()) == ("", False)
    wrong = ("--target", "agents:mixed?wrong=true", "--keep")
    row = json.loads(harness(*words, *wrong, "--json").stdout)
    assert folder / row["kept"] == kept
    assert (kept / "mine.txt").read_text() == "what the agent noted"
    assert f"  kept:    {row['kept']}" in harness(*words, *wrong).stdout
    harness(*words, "--target", "agents:mixed", "--keep")
    assert not kept.exists()


def test_a_profile_keeps_sessions_too(harness: Harness, folder: Path) -> None:
    (folder / "harness.toml").write_text('profile = "mine"\n[profiles.mine]\nkeep = true\n')
    done = harness("run", "--target", "agents:wrong")
    assert done.stdout.count("      kept: .harness/runs/") == 10
