"""Other processes load the same plug-ins: workers, campaigns, pytest and its own workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import ROOT

FLAG = ("--plugin", "my_parts")
TESTS = """
def test_play(play):
    play("scenarios/greeting.yaml", "reference?client=plain", variant="")

def test_strict(play):
    expected = "my_parts.polite.word"
    play("scenarios/greeting.yaml", "reference?client=plain", variant="strict", expect=expected)

def test_red(play):
    play("scenarios/greeting.yaml", "reference?client=plain", variant="strict")
"""


def started(*words: str) -> subprocess.CompletedProcess[str]:
    """A command in its own process, with this repository's package."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("HYPOTHESIS_PROFILE", None)
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, env=environment, check=False
    )


def test_two_workers(folder: Path) -> None:
    words = ("harness", "run", "scenarios", "--target", "reference?client=plain", "--json", *FLAG)
    here, there = started(*words), started(*words, "-j", "2")
    assert there.returncode == 1, there.stderr
    assert there.stdout == here.stdout


@pytest.mark.real
def test_a_campaign(folder: Path) -> None:
    words = ("harness", "fuzz", "--target", "rude_agents:rude", "--examples", "24", "--seed", "1")
    done = started(*words, "--workers", "2", "--out", "found", "--json", *FLAG)
    assert done.returncode == 1, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    polite = next(row for row in found if row.get("code") == "my_parts.polite.word")
    assert polite["repeat"].endswith("--plugin my_parts")
    again = started(*polite["repeat"].split())
    assert again.returncode == 1, again.stderr
    assert "my_parts.polite.word" in again.stdout


def test_a_campaign_draws_the_fault(folder: Path) -> None:
    from harness.fuzz.fault_grammar import matching
    from harness.parts.loading import set_loaded
    from harness.plugins import load_plugins

    set_loaded(())
    assert not [fault for fault in matching(("*",)) if fault.kind.startswith("my_parts.")]
    load_plugins("my_parts")
    assert [fault.kind for fault in matching(("my_parts.*",))] == ["my_parts.slow_disk"]
    assert "my_parts.slow_disk" in [fault.kind for fault in matching(("*",))]


@pytest.mark.parametrize(
    ("where", "workers"), [pytest.param("ini", "2", marks=pytest.mark.real), ("config", "0")]
)
def test_pytest(where: str, workers: str, folder: Path) -> None:
    (folder / "test_mine.py").write_text(TESTS)
    ini = "harness_plugins = my_parts\n" if where == "ini" else ""
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}")
    if where == "config":
        (folder / "harness.toml").write_text('plugins = ["my_parts"]\n')
    words = ("pytest", "-q", "-p", "no:cacheprovider", "-n", workers)
    done = started(*words)
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "my_parts.polite.word" in done.stdout
    assert "repeat:  pytest test_mine.py::test_red" in done.stdout
    if where == "config":
        off = started(*words, "--harness-no-config", "-k", "play or strict")
        assert "2 failed" in off.stdout, off.stdout


def test_pytest_with_a_wrong_plugin(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\nharness_plugins = gone_parts\n")
    done = started("pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 4
    assert "ERROR: plug-in 'gone_parts': cannot be imported" in done.stderr
