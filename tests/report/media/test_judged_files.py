"""What `judge` prints of recordings: files, findings, refusals by reason, totals."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import Finding, FindingClass, Verdict
from harness.recordings.transcripts import Refusal
from harness.report.media import judged_files
from harness.verdicts.baseline import BaselineChange
from harness.verdicts.command_events import CommandFinished, FileRead
from harness.verdicts.result import evidence, of_transcript
from harness.verdicts.tallies import JudgedTotals
from tests.report.fabricated import FINDING, history

ASKED = ("no_progress_stop", "tool_pairing")
FILES = (
    FileRead(
        path="logs/a b.jsonl",
        format="claude_code",
        results=(
            of_transcript(
                "logs/a b.jsonl", "s1", "claude_code", Verdict("pass"),
                counts={"messages": 4}, asked=ASKED, asked_of=45,
            ),
            of_transcript(
                "logs/a b.jsonl", "s2", "claude_code", Verdict("fail", findings=(FINDING,)),
                evidence=evidence(history(), (FINDING,)), asked=ASKED, asked_of=45,
            ),
        ),
        refusals=(Refusal("", "no LLM exchange"),),
        notes=("3 lines skipped",),
    ),
    FileRead(path="logs/b.yaml", refusals=(Refusal("", "format not recognised"),)),
    FileRead(path="logs/c.yaml", refusals=(Refusal("", "format not recognised"),)),
    FileRead(
        path="logs/d.yaml",
        format="vcr",
        results=(
            of_transcript(
                "logs/d.yaml", "1", "vcr", Verdict("unknown", doubts=("odd",)),
                asked=ASKED[:1], asked_of=45,
            ),
        ),
        named=True,
    ),
)  # fmt: skip


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("verbose", [False, True])
def test_text(width: int, verbose: bool, snapshot: SnapshotAssertion) -> None:
    said = [line for file in FILES for line in judged_files.text(file, width, verbose=verbose)]
    tally = JudgedTotals()
    for file in FILES:
        tally.add(file)
    assert "\n".join([*said, *judged_files.ending(tally, width, verbose=verbose)]) == snapshot


def _file(path: str, *findings: Finding, number: int = 1, **more: Any) -> FileRead:
    """A file whose transcripts all have these findings."""
    fails = any(finding.fails("weakness") for finding in findings)
    verdict = Verdict("fail" if fails else "pass", findings=findings)
    judged = (
        of_transcript(path, f"item {n}", "vcr", verdict, asked=ASKED, asked_of=45)
        for n in range(number)
    )
    return FileRead(path=path, format="vcr", results=tuple(judged), **more)


def _finding(code: str, class_: FindingClass) -> Finding:
    return Finding(code, f"{code} was found", (), class_)


EMPTY = _finding("unique_tool_ids.empty", "weakness")
ORPHAN = _finding("tool_pairing.orphan", "defect")
ROLES = _finding("role_alternation.wire", "advice")


def test_a_file_of_a_folder_that_passes_has_no_line() -> None:
    for findings in ((), (ROLES,)):
        assert not [*judged_files.text(_file("a", *findings), 80)]
        assert [*judged_files.text(_file("a", *findings, named=True), 80)]
        assert [*judged_files.text(_file("a", *findings), 80, verbose=True)]


def test_a_failing_file_says_how_it_was_read() -> None:
    file = _file("a", ORPHAN, notes=("line 3: torn, skipped", "line 9: not JSON"))
    said = [*judged_files.text(file, 100)]
    assert said[1] == "    note: line 3: torn, skipped; -v shows all 2"


def test_a_finding_of_many_transcripts_is_shown_three_times() -> None:
    file = _file("a", EMPTY, number=1961)
    said = [*judged_files.text(file, 80)]
    assert sum("unique_tool_ids.empty  (weakness)" in line for line in said) == 3
    assert said[-1].strip() == (
        "and 1958 more of unique_tool_ids.empty, 1958 transcripts more; -v shows all"
    )
    every = [*judged_files.text(file, 80, verbose=True)]
    assert sum("unique_tool_ids.empty  (weakness)" in line for line in every) == 1961


def test_the_transcript_with_the_cause_comes_first() -> None:
    worst = _file("a", ORPHAN).results[0]
    both = msgspec.structs.replace(_file("a", EMPTY), results=(*FILES[0].results, worst))
    codes = [line for line in judged_files.text(both, 80) if "(" in line and "." in line]
    assert "tool_pairing.orphan  (defect)" in codes[0]


def test_the_summary_of_a_folder_reads_in_one_screen() -> None:
    tally = JudgedTotals()
    for n in range(3000):
        code = f"no_progress_stop.rule_{n % 30}"
        finding = _finding(code, "weakness") if n % 31 else ORPHAN
        refusals = (
            Refusal("", "no LLM traffic", f"POST /v1/{n % 50}"),
            Refusal("", f"reason {n % 9}"),
        )
        tally.add(_file(f"logs/{'x' * 90}/{n}", finding, number=2, refusals=refusals))
    said = [*judged_files.ending(tally, 80)]
    assert len(said) <= 24
    assert "tool_pairing.orphan  (defect)" in said[6], "the cause stands first"
    assert "applied 2 of 45 checks: no_progress_stop, tool_pairing (of all 6000)" in said
    assert any(line.startswith("refused: 3000 no LLM traffic; ") for line in said)
    every = [*judged_files.ending(tally, 80, verbose=True)]
    assert any("POST /v1/49" in line for line in every)


def _screen(*files: FileRead, verbose: bool = False) -> list[str]:
    """The lines of a report of these files."""
    report = judged_files.JudgedFiles(80, verbose=verbose)
    events = (*files, CommandFinished())
    return [line for event in events for line in report(event)]


def test_of_a_folder_with_many_files_the_worst_are_named() -> None:
    files = [_file(f"logs/{n}", EMPTY if n % 30 else ORPHAN) for n in range(300)]
    files[200] = _file("logs/200", ORPHAN, ORPHAN)
    said = _screen(*files)
    assert len([line for line in said if line]) <= 25
    assert said[1].startswith("289 of 300 transcripts: "), "what most share stands first"
    at = said.index("worst of 300 files with findings or doubts (-v shows all)")
    worst = [line for line in said[at + 1 :] if line.startswith("✗")]
    assert worst == ["✗ logs/200", "✗ logs/0", "✗ logs/120"]
    assert said[at + 2] == "    tool_pairing.orphan x2"
    every = _screen(*files, verbose=True)
    assert sum(line.startswith("✗ logs/") for line in every) == 300
    assert not any("worst of" in line for line in every)


def test_a_few_files_of_a_folder_are_shown_whole_and_named_ones_always() -> None:
    few = [_file(f"logs/{n}", ORPHAN) for n in range(judged_files.FILES_MAX)]
    clean = [_file(f"clean/{n}") for n in range(50)]
    said = _screen(*few, *clean)
    assert [line.split()[1] for line in said if line.startswith("✗")] == [f.path for f in few]
    named = [msgspec.structs.replace(file, named=True) for file in (*few, _file("logs/9", ORPHAN))]
    assert sum(line.startswith("✗") for line in _screen(*named)) == len(named)


def test_the_summary_is_an_object_too() -> None:
    tally = JudgedTotals()
    tally.add(_file("a", ORPHAN, number=3))
    tally.add(FILES[0])
    summary = json.loads(json.dumps(tally.as_json()))
    assert (summary["files"], summary["transcripts"], summary["failed"]) == (2, 5, 4)
    assert (summary["asked"], summary["asked_of"]) == (dict.fromkeys(ASKED, 5), 45)


def test_with_a_baseline_the_last_week_stands_beside_the_one_before() -> None:
    before = [
        _file(f"old/{n}", *found, day="2026-03-02") for n, found in enumerate(((), (ORPHAN,)))
    ]
    last = [_file(f"new/{n}", EMPTY, day="2026-03-10") for n in range(3)]
    change = BaselineChange("base.tsv", accepted=0, new=(), gone=(), written=False)
    report = judged_files.JudgedFiles(80)
    events = (*before, *last, CommandFinished(baseline=change))
    said = [line for event in events for line in report(event)]
    assert said[-2:] == [
        "week to 2026-03-10: 3 sessions, 3 failed; the week before: 2 sessions, 1 failed",
        "  sessions by code: unique_tool_ids.empty 0 -> 3, tool_pairing.orphan 1 -> 0",
    ]
    assert not any("week" in line for line in _screen(*before, *last))
