"""A transcript is told as a run: by name, with its verdict, and again by its command."""

from __future__ import annotations

from pathlib import Path

from junitparser import JUnitXml

from harness.core.values.verdict import Finding, Verdict
from harness.recordings.transcripts import Refusal
from harness.report.github_annotations import annotation_lines
from harness.report.judge_report import JudgedFile, JudgedTranscript
from harness.report.judged_runs import judged_runs, transcript_name
from harness.report.junit_report import junit
from harness.report.markdown_summary import markdown

LOOP = Finding("no_progress_stop.same_call", "read runs again", (4,), "weakness")
FILE = JudgedFile(
    path="logs/a.jsonl",
    format="claude_code",
    transcripts=(
        JudgedTranscript(name="s/1", verdict=Verdict("fail", findings=(LOOP,)), evidence={4: "x"}),
        JudgedTranscript(name="t", verdict=Verdict("pass", "completed")),
    ),
    refusals=(Refusal("line 3", "torn"), Refusal("line 9", "torn")),
    named=True,
)
RUNS = list(judged_runs(FILE))


def test_each_transcript_is_a_run_of_its_file() -> None:
    assert [(run.name, run.word) for run in RUNS] == [
        ("logs/a.jsonl/s/1", "fail"),
        ("logs/a.jsonl/t", "pass"),
        ("logs/a.jsonl/refused", "not_applicable"),
    ]
    assert [transcript_name(run) for run in RUNS] == ["s/1", "t", "refused"]
    found = list(judged_runs(JudgedFile(path="logs/b", refusals=(Refusal("", "binary data"),))))
    assert found == [], "a refusal in a folder is counted, not listed"


def test_the_documents_of_runs_take_them() -> None:
    (suite,) = JUnitXml.fromstring(junit(RUNS))
    assert [case.name for case in suite] == ["s/1", "t", "refused"]
    assert (suite.failures, suite.skipped) == (1, 1)
    (failing, *_) = suite
    assert failing.system_out == "outcome: none\nrepeat: harness judge logs/a.jsonl"
    text = markdown(RUNS, noun="transcript")
    assert text.startswith("## ✗ harness: 3 transcripts: 1 passed, 1 failed, 1 not applicable\n")
    assert "Target" not in text
    (line,) = annotation_lines(RUNS, Path.cwd(), "transcript")
    assert "title=no_progress_stop.same_call  (weakness)%2C 1 transcript" in line
