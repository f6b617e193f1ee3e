"""What `judge` prints of recordings: files, findings, refusals by reason, totals."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import Verdict
from harness.report import judge_report
from harness.report.judge_report import JudgedFile, JudgedTranscript
from harness.report.run_summary import evidence
from tests.report.fabricated import FINDING, history

FILES = (
    JudgedFile(
        path="logs/a b.jsonl",
        format="claude_code",
        transcripts=(
            JudgedTranscript(name="s1", verdict=Verdict("pass"), counts={"messages": 4}),
            JudgedTranscript(
                name="s2",
                verdict=Verdict("fail", findings=(FINDING,)),
                evidence=evidence(history(), (FINDING,)),
            ),
        ),
        refusals=("no LLM exchange",),
        notes=("3 lines skipped",),
    ),
    JudgedFile(path="logs/b.yaml", refusals=("format not recognised",)),
    JudgedFile(path="logs/c.yaml", refusals=("format not recognised",)),
    JudgedFile(
        path="logs/d.yaml",
        format="vcr",
        transcripts=(JudgedTranscript(name="1", verdict=Verdict("unknown", doubts=("odd",))),),
    ),
)


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("verbose", [False, True])
def test_text(width: int, verbose: bool, snapshot: SnapshotAssertion) -> None:
    said = [line for file in FILES for line in judge_report.text(file, width, verbose=verbose)]
    tally = judge_report.JudgedTotals()
    for file in FILES:
        tally.add(file)
    assert "\n".join([*said, *tally.ending(width)]) == snapshot


def test_the_command_is_quoted() -> None:
    assert judge_report.judge_command("logs/a b.jsonl") == "harness judge 'logs/a b.jsonl'"
