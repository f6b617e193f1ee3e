"""The careful agents pass the catalogue: no defect, and no weakness but those of the table."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AGENTS = sorted(path.stem for path in (ROOT / "examples" / "agents").glob("*.toml"))
SAMPLE = ("delivery", "tools", "hangs/silent-provider.yaml", "loops/fifty-rounds-of-two.yaml")


def known(agent: str) -> set[tuple[str, str]]:
    """The weaknesses that an agent keeps: run and code. Each row of the table has a reason."""
    lines = (ROOT / "tests/examples/careful_weaknesses.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    assert all(len(row) == 4 and all(row) for row in rows)
    return {(run, code) for name, run, code, _ in rows if name == agent}


def played(agent: str, paths: Iterable[str], out: Path) -> list[dict[str, object]]:
    """The verdicts of an agent over scenarios."""
    command = [
        sys.executable,
        "-m",
        "harness",
        "run",
        *(str(ROOT / "scenarios" / path) for path in paths),
    ]
    command += ["--profile", f"examples/agents/{agent}.toml", "--out", str(out), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if '"verdict"' in line]


def judged(agent: str, verdicts: list[dict[str, object]]) -> None:
    """No defect, no weakness that the table lacks, and no row of these runs that is gone."""
    runs = {str(verdict["name"]) for verdict in verdicts}
    assert any(verdict["verdict"] == "pass" for verdict in verdicts)
    found = {
        (str(verdict["name"]), finding["code"], finding.get("class"))
        for verdict in verdicts
        for finding in verdict["findings"]  # type: ignore[attr-defined]
        if finding.get("class") != "advice"
    }
    assert not {row for row in found if row[2] == "defect"}
    weaknesses = {(run, code) for run, code, _ in found}
    assert weaknesses == {(run, code) for run, code in known(agent) if run in runs}


@pytest.mark.parametrize("agent", AGENTS)
def test_sample(agent: str, tmp_path: Path) -> None:
    judged(agent, played(agent, SAMPLE, tmp_path))


@pytest.mark.real
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("agent", AGENTS)
def test_whole_catalogue(agent: str, tmp_path: Path) -> None:
    verdicts = played(agent, [""], tmp_path)
    judged(agent, verdicts)
    assert known(agent) <= {(str(v["name"]), code) for v in verdicts for _, code in known(agent)}


@pytest.mark.parametrize("agent", AGENTS)
def test_ends_a_turn_by_a_tool_or_in_words(agent: str, tmp_path: Path) -> None:
    path = tmp_path / "final-answer.yaml"
    path.write_text(FINAL_ANSWER, "utf-8")
    if agent != "careful_tool":
        pytest.skip("this agent ends its turns in words")
    judged(agent, played(agent, [str(path)], tmp_path / "out"))


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
