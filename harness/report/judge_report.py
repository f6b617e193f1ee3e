"""The text of `judge`: a line for each file, its findings, the refusals, the totals."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Literal

import msgspec

from harness.core.values.messages import Json
from harness.core.values.verdict import FindingClass, Verdict, VerdictWord, worst
from harness.core.values.visible_text import visible_line
from harness.report.cause_tally import CauseTally
from harness.report.command_summary import below_words
from harness.report.event_lines import counted
from harness.report.json_lines import judged_line
from harness.report.run_report import (
    MARKS,
    WORDS,
    Paint,
    codes,
    findings,
    plain,
    wrapped,
)


class JudgedTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """One transcript of a file: its verdict, the counts over it, the lines that prove findings."""

    name: str
    verdict: Verdict
    counts: Json = None
    evidence: dict[int, str] = {}


class JudgedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file; `refusals` are the reasons why it, or parts of it, could not be read.

    `named`: the user named the file itself.
    """

    path: str
    format: str = ""
    transcripts: tuple[JudgedTranscript, ...] = ()
    refusals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    named: bool = False

    @property
    def word(self) -> VerdictWord:
        """The worst verdict of its transcripts."""
        return worst(*(t.verdict.verdict for t in self.transcripts))


def judge_command(path: str) -> str:
    """The command that judges a file again."""
    return shlex.join(["harness", "judge", path])


def json_lines(file: JudgedFile) -> Iterator[str]:
    """The contract's object for each transcript."""
    for t in file.transcripts:
        yield judged_line(
            file.path, t.name, file.format, t.verdict, t.counts, judge_command(file.path)
        )


def text(
    file: JudgedFile, width: int, paint: Paint = plain, verbose: bool = False
) -> Iterator[str]:
    """A file's line, its findings with the events that prove them, and with `verbose` the rest."""
    if file.transcripts:
        number = counted(len(file.transcripts), "transcript")
        said = codes(f for t in file.transcripts for f in t.verdict.failing)
        mark = paint(file.word, MARKS[file.word])
        yield f"{mark} {file.path}  {file.format}, {number}{f': {said}' if said else ''}"
    for transcript in file.transcripts:
        yield from _transcript(transcript, width, paint)
    if verbose:
        for note in (*(f"refused: {r}" for r in file.refusals), *file.notes):
            yield from wrapped(f"{file.path}: {note}", width, "  ")


def _transcript(transcript: JudgedTranscript, width: int, paint: Paint) -> Iterator[str]:
    verdict = transcript.verdict
    if verdict.findings:
        yield f"    in {visible_line(transcript.name)}"
    for line in findings(verdict, transcript.evidence, width - 4, paint):
        yield f"    {line}"
    for doubt in verdict.doubts if verdict.verdict == "unknown" else ():
        yield from wrapped(f"doubt: {transcript.name}: {doubt}", width, "    ")


class JudgedTotals:
    """Counts over the files that were printed, for the end of the report."""

    def __init__(self) -> None:
        self.files = 0
        self.words: Counter[VerdictWord] = Counter()
        self._refused: Counter[str] = Counter()
        self._causes = CauseTally("transcript")
        self._below: Counter[FindingClass | Literal[""]] = Counter()

    def add(self, file: JudgedFile) -> None:
        """Count a file in."""
        self.files += 1
        self._refused.update(file.refusals)
        for transcript in file.transcripts:
            self.words[transcript.verdict.verdict] += 1
            self._causes.add(file.path, transcript.verdict)
            self._below.update(finding.class_ for finding in transcript.verdict.below)

    def ending(self, width: int, paint: Paint = plain) -> Iterator[str]:
        """The refusals by reason, the findings by cause, and the totals."""
        yield from _table("refused", self._refused)
        causes = [*self._causes.lines(width, paint)]
        yield from ("", *causes) if causes else ()
        words = ((w, f"{self.words[w]} {verb}") for w, verb in WORDS.items() if self.words[w])
        said = ", ".join(paint(word, text) for word, text in words)
        totals = f"{counted(self.files, 'file')}, {counted(self.words.total(), 'transcript')}"
        yield ""
        below = below_words(self._below)
        yield f"{totals}: {said or 'none'}{below}; {self._refused.total()} refused"


def _table(title: str, times: Counter[str]) -> Iterator[str]:
    if times:
        yield ""
        yield f"{title}:"
        for name, n in sorted(times.items(), key=lambda item: (-item[1], item[0])):
            yield f"  {n:>5}  {name}"
