"""A transcript is told as a run: by name, with its verdict, and again by its command."""

from __future__ import annotations

from junitparser import JUnitXml

from harness.core.values.verdict import Finding, Verdict
from harness.report.media.github import github
from harness.report.media.junit import document as junit
from harness.report.media.markdown import document as markdown
from harness.verdicts.command_events import CommandStarted
from harness.verdicts.result import of_refusals, of_transcript

LOOP = Finding("no_progress_stop.same_call", "read runs again", (4,), "weakness")
FILE, FORMAT = "logs/a.jsonl", "claude_code"
RUNS = [
    of_transcript(FILE, "s/1", FORMAT, Verdict("fail", findings=(LOOP,)), evidence={4: "x"}),
    of_transcript(FILE, "t", FORMAT, Verdict("pass", "completed")),
    of_refusals(FILE, FORMAT, ("line 3: torn", "line 9: torn")),
]


def test_each_transcript_is_a_run_of_its_file() -> None:
    assert [(run.name, run.word) for run in RUNS] == [
        ("logs/a.jsonl/s/1", "fail"),
        ("logs/a.jsonl/t", "pass"),
        ("logs/a.jsonl/refused", "not_applicable"),
    ]
    assert [run.label for run in RUNS] == ["s/1", "t", "refused"]
    assert [run.is_refusal for run in RUNS] == [False, False, True]


def test_the_command_is_quoted() -> None:
    made = of_transcript("logs/a b.jsonl", "t", FORMAT, Verdict("pass"))
    assert made.repeat == "harness judge 'logs/a b.jsonl'"


def test_the_documents_of_runs_take_them() -> None:
    (suite,) = JUnitXml.fromstring(junit(RUNS))
    assert [case.name for case in suite] == ["s/1", "t", "refused"]
    assert (suite.failures, suite.skipped) == (1, 1)
    (failing, *_) = suite
    assert failing.system_out == "outcome: none\nrepeat: harness judge logs/a.jsonl"
    command = CommandStarted(verb="judge", noun="transcript")
    text = markdown(RUNS, command=command)
    assert text.startswith("## ✗ harness: 3 transcripts: 1 passed, 1 failed, 1 not applicable\n")
    assert "Target" not in text
    (line,) = github(RUNS, command)
    assert "title=no_progress_stop.same_call  (weakness)%2C 1 transcript" in line
