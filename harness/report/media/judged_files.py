"""The text report of `judge`: the files with their findings, the refusals, the totals.

A folder may hold thousands of sessions, and findings in the order of file names tell nothing. So
of a folder with more than a few such files the report names the worst ones, and fits one screen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import msgspec

from harness.checks.judge.causes import rank
from harness.core.values.visible_text import visible_line
from harness.report.command_summary import (
    GROUPS_MAX,
    baseline_lines,
    below_words,
    cause_lines,
    headline,
)
from harness.report.run_report import ALIKE_MAX, MARKS, Paint, codes, findings, plain, wrapped
from harness.verdicts.command_events import CommandFinished, Event, FileRead, refusal_line
from harness.verdicts.event_lines import counted
from harness.verdicts.result import WORDS, Result
from harness.verdicts.tallies import JudgedTotals, Week


class JudgedFiles:
    """The recordings that were read, each with its findings, and the totals."""

    def __init__(self, width: int = 100, paint: Paint = plain, verbose: bool = False) -> None:
        self._look = (width, paint, verbose)
        self._totals = JudgedTotals()
        self._held: list[list[str]] = []
        self._worst: list[tuple[tuple[int, ...], str, str, str]] = []
        self._shown = 0

    def __call__(self, event: Event) -> Iterator[str]:
        """Yield the lines of a named file once it was read; those of a folder and totals last."""
        match event:
            case FileRead():
                self._totals.add(event)
                lines = text(event, *self._look)
                if event.named or self._look[-1]:
                    yield from lines
                elif held := [*lines]:
                    self._hold(event, held)
            case CommandFinished():
                few = self._held if self._shown <= FILES_MAX else []
                yield from (line for lines in few for line in lines)
                worst = () if few else tuple(self._worst_files())
                yield from ending(self._totals, *self._look, worst=worst)
                yield from baseline_lines(event.baseline)
                if event.baseline and (weeks := self._totals.days.weeks()):
                    yield from trend_lines(*weeks, self._look[0])

    def _hold(self, file: FileRead, lines: list[str]) -> None:
        """Keep the lines of the first files and the codes of the worst ones."""
        self._shown += 1
        if self._shown <= FILES_MAX:
            self._held.append(lines)
        if failing := [f for one in file.results for f in one.verdict.failing]:
            weight = (min(map(rank, failing)), -len(failing))
            self._worst = sorted([*self._worst, (weight, file.path, file.called, codes(failing))])[
                :WORST_MAX
            ]

    def _worst_files(self) -> Iterator[str]:
        width, paint, _ = self._look
        if self._worst:
            yield f"worst of {counted(self._shown, 'file')} with findings or doubts (-v shows all)"
        for _, path, called, said in self._worst:
            yield f"{paint('fail', MARKS['fail'])} {path}"
            yield from wrapped(called, width, "    ") if called else ()
            yield from wrapped(said, width, "    ")


FILES_MAX, WORST_MAX = 5, 3
"""The most files of folders that are shown without `verbose`, and how many of more are named."""


def text(file: FileRead, width: int, paint: Paint = plain, verbose: bool = False) -> Iterator[str]:
    """Yield a file's line, its applied checks, and its findings with the events that prove them.

    A file in a folder has no line if it passes, unless `verbose`. For each code, only the first
    findings of the file are shown.
    """
    if file.results and (file.named or verbose or file.word != "pass"):
        yield from _heading(file, width, paint, verbose)
        yield from _findings(file, width, paint, verbose)
    if verbose:
        for note in (*(f"refused: {refusal_line(r)}" for r in file.refusals), *file.notes):
            yield from wrapped(f"{file.path}: {note}", width, "  ")


def _heading(file: FileRead, width: int, paint: Paint, verbose: bool) -> Iterator[str]:
    number = counted(len(file.results), "transcript")
    said = codes(f for t in file.results for f in t.verdict.failing)
    mark = paint(file.word, MARKS[file.word])
    asked = tuple(dict.fromkeys(name for t in file.results for name in t.asked))
    share = f"{len(asked)} of {max(t.asked_of for t in file.results)} checks"
    yield f"{mark} {file.path}  {file.format}, {number}, {share}{f': {said}' if said else ''}"
    if file.called:
        yield from wrapped(file.called, width, "    ")
    if asked and (file.named or verbose):
        yield from wrapped(f"asked: {', '.join(asked)}", width, "    ")
    if file.notes and not verbose:
        more = f"; -v shows all {len(file.notes)}" if len(file.notes) > 1 else ""
        yield from wrapped(f"note: {visible_line(file.notes[0])}{more}", width, "    ")


def _findings(file: FileRead, width: int, paint: Paint, verbose: bool) -> Iterator[str]:
    """Yield the findings of the transcripts, the worst first; of one code only the first ones."""
    shown = Counter[str]()
    left, places = Counter[str](), Counter[str]()
    many = len({transcript.session for transcript in file.results}) > 1
    for transcript in sorted(file.results, key=_worst_rank):
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
        one = msgspec.structs.replace(transcript, verdict=part)
        yield from _transcript(one, width, paint, names_session=many)
    for code, number in left.items():
        where = f", {counted(places[code], 'transcript')} more" if places[code] else ""
        yield paint("faint", f"    and {number} more of {code}{where}; -v shows all")


def _worst_rank(transcript: Result) -> tuple[int, ...]:
    found = transcript.verdict.findings
    return (0, rank(found[0])) if found else (1,)


def _transcript(
    transcript: Result, width: int, paint: Paint, *, names_session: bool
) -> Iterator[str]:
    verdict = transcript.verdict
    if verdict.findings:
        called = f": {transcript.session}" if names_session and transcript.session else ""
        yield from wrapped(f"in {visible_line(transcript.label)}{called}", width, "    ")
    for said in findings(verdict, transcript.evidence, width - 4, paint):
        yield f"    {said}"
    if verdict.known:
        said = f"known in {visible_line(transcript.label)}: {codes(verdict.known)}"
        yield from wrapped(said, width, "    ")
    if verdict.verdict == "not_applicable":
        why = "; ".join(n.reason for n in verdict.not_applicable if n.check == "run")
        yield from wrapped(
            f"not applicable: {visible_line(transcript.label)}: {why}", width, "    "
        )
    for doubt in verdict.doubts:
        yield from wrapped(f"doubt: {transcript.label}: {doubt}", width, "    ")


def ending(
    totals: JudgedTotals,
    width: int,
    paint: Paint = plain,
    verbose: bool = False,
    worst: Iterable[str] = (),
) -> Iterator[str]:
    """Yield the findings by cause, the applied checks, the refusals by reason, and the totals.

    Without `verbose` it fits one screen. `worst` are the lines of the worst files.
    """
    most = GROUPS_MAX if verbose else CAUSES_MAX
    causes = cause_lines(totals.causes, width, paint, "transcript", most)
    is_whole = verbose or len(totals.refused) <= REASONS_MAX
    refused = _every_reason(totals.refused) if is_whole else _reasons(totals.reasons, width)
    told = headline(totals.causes, totals.words, "transcript")
    first = (paint("strong", part) for line in told for part in wrapped(line, width, ""))
    for section in map(tuple, (first, causes, worst, _shares(totals, width), refused)):
        yield from ("", *section) if section else ()
    yield ""
    words = ((w, f"{totals.words[w]} {verb}") for w, verb in WORDS.items() if totals.words[w])
    judged = ", ".join(paint(word, text) for word, text in words) or "none judged"
    read = f"{counted(totals.files, 'file')}, {counted(totals.transcripts, 'transcript')}"
    yield f"{read}: {judged}{below_words(totals.below)}; {totals.refused.total()} refused"


def trend_lines(last: Week, before: Week, width: int) -> Iterator[str]:
    """Yield the last week beside the one before: sessions, failed ones, and what came and went."""
    said = f"week to {last.until}: {_counted_week(last)}; the week before: {_counted_week(before)}"
    yield from wrapped(said, width, "")
    grown = {code: last.codes[code] - before.codes[code] for code in last.codes | before.codes}
    codes = sorted(grown, key=lambda code: (-grown[code], code))
    moved = [f"{code} {before.codes[code]} -> {last.codes[code]}" for code in codes if grown[code]]
    if moved:
        ends = moved if len(moved) <= MOVED_MAX else [*moved[: MOVED_MAX - 1], moved[-1]]
        more = f", and {len(moved) - len(ends)} more" if len(moved) > len(ends) else ""
        yield from wrapped(f"sessions by code: {', '.join(ends)}{more}", width, "  ")


def _counted_week(week: Week) -> str:
    return f"{counted(week.sessions, 'session')}, {week.failed} failed"


def _shares(totals: JudgedTotals, width: int) -> Iterator[str]:
    """Yield the applied checks by number of transcripts; a single file lists them first."""
    alike = groupby(totals.asked.most_common(), itemgetter(1))
    groups = [(number, [name for name, _ in found]) for number, found in alike]
    said = [
        f"{', '.join(names)} (of {f'all {number}' if number == totals.transcripts else number})"
        for number, names in groups[:GROUPS_OF_CHECKS_MAX]
    ]
    if said and totals.files > 1:
        whole = f"applied {len(totals.asked)} of {totals.asked_of} checks: {'; '.join(said)}"
        more = len(totals.asked) - sum(len(names) for _, names in groups[:GROUPS_OF_CHECKS_MAX])
        yield from wrapped(whole + (f"; and {more} more" if more else ""), width, "")


def _reasons(reasons: Counter[str], width: int) -> Iterator[str]:
    """Yield the most frequent reasons of refusals, in a paragraph."""
    first = reasons.most_common(REASONS_MAX - 1)
    said = [f"{number} {reason}" for reason, number in first]
    more = reasons.total() - sum(number for _, number in first)
    said += [f"{more} for other reasons"] if more else []
    yield from wrapped(f"refused: {'; '.join(said)} (-v: all reasons)", width, "")


def _every_reason(refused: Counter[str]) -> Iterator[str]:
    if refused:
        yield "refused:"
    for name, number in sorted(refused.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {number:>5}  {name}"


MOVED_MAX = 4
"""The most codes of a trend: those that grew most, and the one that fell most."""

CAUSES_MAX = 3
"""The most causes in a summary of one screen."""

GROUPS_OF_CHECKS_MAX = 4
"""The most groups of checks, by number of transcripts, in a summary of one screen."""

REASONS_MAX = 4
"""The most reasons for refusals in a summary of one screen."""
