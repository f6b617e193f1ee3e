"""The text report of `judge`: a line for each file, its findings, the refusals, the totals."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Literal

import msgspec

from harness.checks.judge.causes import rank
from harness.core.values.messages import Json
from harness.core.values.verdict import FindingClass, Verdict, VerdictWord, worst
from harness.core.values.visible_text import visible_line
from harness.recordings.transcripts import Refusal
from harness.redaction.encoder import json_line
from harness.report.cause_tally import GROUPS_MAX, CauseTally
from harness.report.command_summary import below_words
from harness.report.json_lines import judged_line
from harness.report.run_report import (
    ALIKE_MAX,
    MARKS,
    WORDS,
    Paint,
    codes,
    findings,
    plain,
    wrapped,
)
from harness.results.event_lines import counted


class JudgedTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """One transcript of a file: its verdict, its counts, the lines that prove findings.

    `asked` names the applied checks; `asked_of` is the number of all checks.
    """

    name: str
    verdict: Verdict
    counts: Json = None
    evidence: dict[int, str] = {}
    asked: tuple[str, ...] = ()
    asked_of: int = 0


def refusal_line(refusal: Refusal) -> str:
    """Return a refusal on one line, with its place where a whole file was refused."""
    return ": ".join(filter(None, (refusal.place, refusal.what)))


class JudgedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file; `refusals` are the reasons why it, or parts of it, could not be read.

    `named`: the user named the file itself, not a folder.
    """

    path: str
    format: str = ""
    transcripts: tuple[JudgedTranscript, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    named: bool = False

    @property
    def word(self) -> VerdictWord:
        """Return the worst verdict of its transcripts."""
        words = {t.verdict.verdict for t in self.transcripts}
        return "not_applicable" if words == {"not_applicable"} else worst(*words)


def judge_command(path: str) -> str:
    """Return the command that judges a file again."""
    return shlex.join(["harness", "judge", path])


def json_lines(file: JudgedFile) -> Iterator[str]:
    """Yield the JSON object of each transcript."""
    for t in file.transcripts:
        yield judged_line(
            file.path, t.name, file.format, t.verdict, t.counts, judge_command(file.path),
            t.asked, t.asked_of,
        )  # fmt: skip


def text(
    file: JudgedFile, width: int, paint: Paint = plain, verbose: bool = False
) -> Iterator[str]:
    """Yield a file's line, its applied checks, and its findings with the events that prove them.

    A file in a folder has no line if it passes, unless `verbose`. For each code, only the first
    findings of the file are shown.
    """
    if file.transcripts and (file.named or verbose or file.word != "pass"):
        yield from _heading(file, width, paint, verbose)
        yield from _findings(file, width, paint, verbose)
    if verbose:
        for note in (*(f"refused: {refusal_line(r)}" for r in file.refusals), *file.notes):
            yield from wrapped(f"{file.path}: {note}", width, "  ")


def _heading(file: JudgedFile, width: int, paint: Paint, verbose: bool) -> Iterator[str]:
    number = counted(len(file.transcripts), "transcript")
    said = codes(f for t in file.transcripts for f in t.verdict.failing)
    mark = paint(file.word, MARKS[file.word])
    asked = tuple(dict.fromkeys(name for t in file.transcripts for name in t.asked))
    share = f"{len(asked)} of {max(t.asked_of for t in file.transcripts)} checks"
    yield f"{mark} {file.path}  {file.format}, {number}, {share}{f': {said}' if said else ''}"
    if asked and (file.named or verbose):
        yield from wrapped(f"asked: {', '.join(asked)}", width, "    ")
    if file.notes and not verbose:
        more = f"; -v shows all {len(file.notes)}" if len(file.notes) > 1 else ""
        yield from wrapped(f"note: {visible_line(file.notes[0])}{more}", width, "    ")


def _findings(file: JudgedFile, width: int, paint: Paint, verbose: bool) -> Iterator[str]:
    """Yield the findings of the transcripts, the worst first; of one code only the first ones."""
    shown = Counter[str]()
    left, places = Counter[str](), Counter[str]()
    for transcript in sorted(file.transcripts, key=_worst_rank):
        verdict = transcript.verdict
        kept = []
        for finding in verdict.findings:
            shown[finding.code] += 1
            if verbose or shown[finding.code] <= ALIKE_MAX:
                kept.append(finding)
            else:
                left[finding.code] += 1
        places.update({finding.code for finding in verdict.findings} - {f.code for f in kept})
        part = msgspec.structs.replace(verdict, findings=tuple(kept))
        yield from _transcript(msgspec.structs.replace(transcript, verdict=part), width, paint)
    for code, number in left.items():
        where = f", {counted(places[code], 'transcript')} more" if places[code] else ""
        yield paint("faint", f"    and {number} more of {code}{where}; -v shows all")


def _worst_rank(transcript: JudgedTranscript) -> tuple[int, ...]:
    found = transcript.verdict.findings
    return (0, rank(found[0])) if found else (1,)


def _transcript(transcript: JudgedTranscript, width: int, paint: Paint) -> Iterator[str]:
    verdict = transcript.verdict
    if verdict.findings:
        yield f"    in {visible_line(transcript.name)}"
    for said in findings(verdict, transcript.evidence, width - 4, paint):
        yield f"    {said}"
    if verdict.known:
        said = f"known in {visible_line(transcript.name)}: {codes(verdict.known)}"
        yield from wrapped(said, width, "    ")
    if verdict.verdict == "not_applicable":
        why = "; ".join(n.reason for n in verdict.not_applicable if n.check == "run")
        yield from wrapped(f"not applicable: {visible_line(transcript.name)}: {why}", width, "    ")
    for doubt in verdict.doubts:
        yield from wrapped(f"doubt: {transcript.name}: {doubt}", width, "    ")


class JudgedTotals:
    """Counts over the files that were printed, for the end of the report."""

    def __init__(self) -> None:
        self.files = 0
        self.words: Counter[VerdictWord] = Counter()
        self._refused: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._causes = CauseTally("transcript")
        self._below: Counter[FindingClass | Literal[""]] = Counter()
        self._asked: Counter[str] = Counter()
        self._asked_of = 0

    def add(self, file: JudgedFile) -> None:
        """Add a file."""
        self.files += 1
        self._refused.update(map(refusal_line, file.refusals))
        self._reasons.update(refusal.reason for refusal in file.refusals)
        for transcript in file.transcripts:
            self.words[transcript.verdict.verdict] += 1
            self._causes.add(file.path, transcript.verdict)
            self._below.update(finding.class_ for finding in transcript.verdict.below)
            self._asked.update(transcript.asked)
            self._asked_of = max(self._asked_of, transcript.asked_of)

    def ending(self, width: int, paint: Paint = plain, verbose: bool = False) -> Iterator[str]:
        """Yield the findings by cause, the applied checks, the refusals by reason, and the totals.

        Without `verbose` it fits one screen.
        """
        most = GROUPS_MAX if verbose else CAUSES_MAX
        causes = self._causes.lines(width, paint, most)
        is_short = verbose or len(self._refused) <= REASONS_MAX
        refused = _table("refused", self._refused) if is_short else self._refusals(width)
        for section in map(tuple, (causes, self._shares(width), refused)):
            yield from ("", *section) if section else ()
        yield ""
        yield self._totals(paint)

    def _totals(self, paint: Paint) -> str:
        words = ((w, f"{self.words[w]} {verb}") for w, verb in WORDS.items() if self.words[w])
        said = ", ".join(paint(word, text) for word, text in words)
        totals = f"{counted(self.files, 'file')}, {counted(self._all, 'transcript')}"
        below = below_words(self._below)
        return f"{totals}: {said or 'none judged'}{below}; {self._refused.total()} refused"

    def _shares(self, width: int) -> Iterator[str]:
        """Yield the applied checks by number of transcripts; a single file lists them first."""
        if self.files < 2:
            return
        groups: dict[int, list[str]] = {}
        for name, number in self._asked.most_common():
            groups.setdefault(number, []).append(name)
        said = [
            f"{', '.join(names)} (of {f'all {number}' if number == self._all else number})"
            for number, names in [*groups.items()][:GROUPS_OF_CHECKS_MAX]
        ]
        if said:
            whole = f"applied {len(self._asked)} of {self._asked_of} checks: {'; '.join(said)}"
            more = len(self._asked) - sum(map(len, [*groups.values()][:GROUPS_OF_CHECKS_MAX]))
            yield from wrapped(whole + (f"; and {more} more" if more else ""), width, "")

    @property
    def _all(self) -> int:
        return self.words.total()

    def _refusals(self, width: int) -> Iterator[str]:
        """Yield the refusals, grouped by their reason."""
        first = self._reasons.most_common(REASONS_MAX - 1)
        said = [f"{number} {reason}" for reason, number in first]
        more = self._reasons.total() - sum(number for _, number in first)
        said += [f"{more} for other reasons"] if more else []
        yield from wrapped(f"refused: {'; '.join(said)} (-v: all reasons)", width, "")

    def json_line(self) -> str:
        """Return the totals as an object, for a command that judges more than one file."""
        words: dict[str, Json] = {WORDS[word]: number for word, number in self.words.items()}
        totals = {"files": self.files, "transcripts": self._all, **words}
        asked = {"asked": dict(self._asked.most_common()), "asked_of": self._asked_of}
        return json_line({"summary": {**totals, **asked, "refused": dict(self._refused)}})


CAUSES_MAX = 4
"""The most causes in a summary of one screen."""

GROUPS_OF_CHECKS_MAX = 4
"""The most groups of checks, by number of transcripts, in a summary of one screen."""

REASONS_MAX = 4
"""The most reasons for refusals in a summary of one screen."""


def _table(title: str, times: Counter[str]) -> Iterator[str]:
    if times:
        yield f"{title}:"
        for name, n in sorted(times.items(), key=lambda item: (-item[1], item[0])):
            yield f"  {n:>5}  {name}"
