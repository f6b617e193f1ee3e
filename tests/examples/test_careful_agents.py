"""The careful agents pass the catalogue: no defect, and no weakness but those of the table."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("careful_weaknesses.tsv")
AGENTS = sorted(path.stem for path in (ROOT / "examples" / "agents").glob("careful_*.toml"))
FIRST, *REST = AGENTS
SAMPLE = ("loops/fifty-rounds-of-two.yaml", "hangs/silent-provider.yaml", "delivery")


def known(agent: str) -> set[tuple[str, str]]:
    """The weaknesses that an agent keeps: run and code. Each row of the table has a reason."""
    rows = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines()[1:]]
    assert all(len(row) == 4 and all(row) for row in rows)
    return {(run, code) for name, run, code, _ in rows if name == agent}


def played(agent: str, paths: Iterable[str], out: Path) -> list[dict[str, Any]]:
    """The verdicts of an agent over scenarios."""
    profile = f"examples/agents/{agent}.toml"
    command = [
        sys.executable,
        "-m",
        "harness",
        "run",
        *(str(ROOT / "scenarios" / path) for path in paths),
    ]
    command += ["--profile", profile, "--out", str(out), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    lines = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    return [line for line in lines if "verdict" in line]


def judged(agent: str, verdicts: list[dict[str, Any]]) -> None:
    """No defect, no weakness that the table lacks, and no row of these runs that is gone."""
    assert {"pass"} <= {v["verdict"] for v in verdicts} <= {"pass", "fail", "not_applicable"}
    assert sum(v["verdict"] == "pass" for v in verdicts) > len(verdicts) / 2
    found = {
        (verdict["name"], finding["code"]): finding.get("class")
        for verdict in verdicts
        for finding in verdict["findings"]
        if finding.get("class") != "advice"
    }
    assert "defect" not in found.values(), found
    names = {verdict["name"] for verdict in verdicts}
    assert set(found) == {(run, code) for run, code in known(agent) if run in names}


@pytest.mark.parametrize("agent", [FIRST, *(pytest.param(a, marks=pytest.mark.real) for a in REST)])
def test_a_sample_of_the_catalogue(agent: str, tmp_path: Path) -> None:
    judged(agent, played(agent, SAMPLE, tmp_path))


@pytest.mark.real
@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("agent", AGENTS)
def test_the_whole_catalogue(agent: str, tmp_path: Path) -> None:
    verdicts = played(agent, [""], tmp_path)
    judged(agent, verdicts)
    names = {verdict["name"] for verdict in verdicts}
    assert {run for run, _ in known(agent)} <= names, "rows of runs that are no more"


def test_a_turn_ends_by_a_tool_or_in_words(tmp_path: Path) -> None:
    path = tmp_path / "final-answer.yaml"
    path.write_text(FINAL_ANSWER, "utf-8")
    judged("careful_tool", played("careful_tool", [str(path)], tmp_path / "out"))


FINAL_ANSWER = """\
name: final-answer
wire: openai-responses
stream: both
inbox: [{text: "What is the number?"}, {text: "Thank you."}]
script:
  - {use: final_answer, input: {answer: "It is forty-two."}}
  - {say: "You are welcome."}
expect: {outcome: completed, calls: {model: {min: 2, max: 2}}}
"""
