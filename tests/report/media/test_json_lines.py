"""The JSON Lines have the contract's keys, and one object a line."""

from __future__ import annotations

import json

import pytest

from harness.report.media.json_lines import JsonLines, run_line
from harness.verdicts.command_events import FileRead
from harness.verdicts.result import Result
from tests.report.fabricated import RUNS, told
from tests.report.media.test_judged_files import FILES

RUN_KEYS = [
    "name",
    "target",
    "world",
    "seed",
    "verdict",
    "outcome",
    "findings",
    "not_applicable",
    "history",
]
JUDGE_KEYS = ["file", "transcript", "format", "verdict", "findings", "counts", "not_applicable"]
FINDING_KEYS = ["code", "class", "check", "message", "events", "follows", "repeat"]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_run_line(run: Result) -> None:
    line = run_line(run)
    assert "\n" not in line
    said = json.loads(line)
    assert set(RUN_KEYS) <= set(said)
    assert [f["code"] for f in said["findings"]] == [f.code for f in run.verdict.findings]
    for finding in said["findings"]:
        assert list(finding) == FINDING_KEYS
        assert finding["repeat"] == run.repeat


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_judged_lines(file: FileRead) -> None:
    said = [json.loads(line) for line in told(JsonLines(), file.results, "judge")]
    said = [row for row in said if "transcript" in row]
    assert [s["transcript"] for s in said] == [t.label for t in file.results]
    assert all(set(JUDGE_KEYS) <= set(s) for s in said)
