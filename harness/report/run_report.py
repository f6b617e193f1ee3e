"""The text report of runs: a line for each, and a block for a run that is shown whole.

It omits durations, so one seed gives one text. Commands are not wrapped, so that they can be
copied. Colour comes from a `paint` function and leaves the text unchanged.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, TypeAlias

from harness.core.values.verdict import Cause, Finding, Verdict, VerdictWord
from harness.core.values.visible_text import abridged, visible_line
from harness.verdicts.event_lines import counted
from harness.verdicts.result import WORDS, Result, with_cause

Style = Literal["pass", "fail", "unknown", "not_applicable", "strong", "faint"]
Paint: TypeAlias = Callable[[Style, str], str]

MARKS: dict[VerdictWord, str] = {"pass": "✓", "fail": "✗", "unknown": "?", "not_applicable": "-"}
CRASHED = "target.crashed"
ALIKE_MAX = 3
"""The most findings of one code that a block shows in full."""

EVIDENCE_MAX = 6
"""The most events that a finding shows; the others are counted."""


def plain(style: Style, text: str) -> str:
    """Return the text without colour."""
    return text


def cut(text: str, width: int) -> str:
    """`text` on one line, in at most `width` columns."""
    return abridged(visible_line(text), max(width, 1))


def heading(run: Result, width: int, paint: Paint = plain) -> str:
    """Return the line above the runs of one scenario: its name and title."""
    room = width - len(run.scenario) - 2
    title = f"  {paint('faint', cut(run.title, room))}" if run.title and room > 8 else ""
    return f"{paint('strong', run.scenario)}{title}"


def row(run: Result, column: int, width: int, paint: Paint = plain) -> str:
    """Return the line of a run: mark, label, and its outcome or the codes of its findings."""
    said = cut(_said(run.verdict), max(width - column - 6, 20))
    name = run.label
    text = f"{name:{column}}  {said}" if said else name
    return f"  {paint(run.word, MARKS[run.word])} {text}"


def _said(verdict: Verdict) -> str:
    if verdict.verdict == "fail":
        return f"{verdict.failing[0].code}{_more(verdict)}"
    if verdict.verdict == "unknown":
        return "; ".join(verdict.doubts)
    if verdict.verdict == "not_applicable":
        return "; ".join(n.reason for n in verdict.not_applicable if n.check == "run")
    below = f", {codes(verdict.below)}" if verdict.below else ""
    known = f", known: {', '.join(dict.fromkeys(f.code for f in verdict.known))}"
    return verdict.outcome + below + (known if verdict.known else "")


def _more(verdict: Verdict) -> str:
    """Return how many findings a verdict has beside the first one."""
    others = len(verdict.findings) - 1
    return f", {others} more" if others else ""


def codes(found: Iterable[Finding]) -> str:
    """Return the codes of findings, each once with its count."""
    times = Counter(finding.code for finding in found)
    return ", ".join(code if n == 1 else f"{code} x{n}" for code, n in times.items())


def block(run: Result, width: int, paint: Paint = plain, verbose: bool = False) -> str:
    """Yield the findings of a run, the events that prove them, and the command that repeats it."""
    return "\n".join(
        [
            f"{paint(run.word, _word(run))} {paint('strong', run.name)}",
            *findings(run.verdict, run.evidence, width, paint, run.frames),
            *_traceback(run, verbose),
            *_output(run),
            *(line for seen in run.seen for line in wrapped(f"would repeat {seen}", width, "  ")),
            *(line for note in run.notes for line in wrapped(note, width, "  ")),
            *_known(run.verdict, width),
            *rest(run.verdict, width, verbose),
            *ways_on(run),
        ]
    )


def _word(run: Result) -> str:
    return {"pass": "PASS", "fail": "FAIL"}.get(run.word, WORDS[run.word].upper())


def findings(
    verdict: Verdict,
    evidence: dict[int, str],
    width: int,
    paint: Paint = plain,
    frames: Sequence[str] = (),
) -> Iterator[str]:
    """Yield findings with the events that prove them; of one code only the first ones.

    A finding that follows from another is below it, without events. `frames` are the user's own
    frames of a crash of the target.
    """
    seen = Counter[str]()
    for finding in verdict.findings:
        seen[finding.code] += 1
        if seen[finding.code] > ALIKE_MAX:
            continue
        yield from told(finding, verdict, width, paint)
        if finding.code == CRASHED:
            yield from _stack(frames, width)
        if not finding.follows:
            yield from proof(finding, evidence, width, paint)
    for code, number in seen.items():
        if number > ALIKE_MAX:
            yield paint("faint", f"  and {number - ALIKE_MAX} more of {code}")


def _stack(frames: Sequence[str], width: int) -> Iterator[str]:
    """Yield the frames of a crash; a function that calls itself prints the same one again."""
    for frame, alike in groupby(frames):
        yield cut(f"      {frame}", width)
        if more := len(list(alike)) - 1:
            yield f"      and {more} more like it"


def told(
    finding: Finding, verdict: Verdict, width: int, paint: Paint = plain, more: str = ""
) -> Iterator[str]:
    """Yield the code of a finding, its class if any, and its message; one that follows from another
    is indented. `more` ends the first line."""
    fails = finding.fails(verdict.fail_on)
    said = paint("fail" if fails else "faint", finding.code)
    indent, follows = ("    ", "follows: ") if finding.follows else ("  ", "")
    yield f"{indent}{follows}{said}{finding_note(finding, fails)}{more}"
    yield from wrapped(_LONG_WORD.sub(r"\1…", finding.message), width, f"{indent}  ")


_LONG_WORD = re.compile(r"(?<!\S)(?!\S*://)(\S{60})\S{100,}")
"""What fills lines and says nothing, such as data in an error; an address is kept to be opened."""


def finding_note(finding: Finding, fails: bool) -> str:
    """Return the text after a code: the class of the finding, and a note if it fails no run."""
    notes = ", ".join(filter(None, [finding.class_, "" if fails else "not failing"]))
    return f"  ({notes})" if notes else ""


def _traceback(run: Result, verbose: bool) -> Iterator[str]:
    if run.traceback and verbose:
        yield "  traceback:"
        yield from (f"    {line}" for line in run.traceback.splitlines())


def _output(run: Result) -> Iterator[str]:
    """Yield the end of what the target printed."""
    if run.output:
        left_out = run.output_lines - len(run.output)
        more = f", after {counted(left_out, 'other line')}" if left_out else ""
        place = f" ({run.output_file})" if run.output_file else ""
        yield f"  output{more}{place}:"
        yield from (f"    {line}".rstrip() for line in run.output)


def _known(verdict: Verdict, width: int) -> Iterator[str]:
    for finding in verdict.known:
        yield f"  known: {finding.code}"
        yield from wrapped(finding.message, width, "    ")


def proof(
    finding: Finding,
    evidence: dict[int, str],
    width: int,
    paint: Paint = plain,
    most: int = EVIDENCE_MAX,
) -> Iterator[str]:
    """Yield the events that prove a finding, at most `most`, and how many more there are."""
    for n in finding.events[:most]:
        yield paint("faint", cut(f"    #{n:<5}{evidence.get(n, '')}".rstrip(), width))
    more = len(finding.events) - most
    if more > 0:
        yield paint("faint", f"    and {counted(more, 'more event')}")


def rest(verdict: Verdict, width: int, verbose: bool = True) -> Iterator[str]:
    """Yield the doubts; with `verbose`, what passed, was not applicable, or was not asked."""
    for doubt in verdict.doubts:
        yield from wrapped(f"doubt: {doubt}", width, "  ")
    if not verbose:
        return
    if verdict.passed:
        yield from wrapped(f"passed: {', '.join(verdict.passed)}", width, "  ")
    for check in verdict.not_applicable:
        if check.kind != "unasked":
            yield from wrapped(f"not applicable: {check.check} ({check.reason})", width, "  ")
    for reason, names in verdict.not_asked.items():
        yield from wrapped(f"{reason}: {', '.join(names)}", width, "  ")


def ways_on(run: Result) -> Iterator[str]:
    """Yield the commands that explain and repeat the first finding, and the folder of the run."""
    for finding in run.verdict.findings[:1]:
        yield f"  explain: harness explain {finding.code}"
    if run.history:
        yield f"  history: {run.history}"
    if run.kept:
        yield f"  kept:    {run.kept}"
    if run.repeat:
        yield f"  repeat:  {run.repeat}"


def wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    """Wrap prose to `width` columns; a longer word stays whole."""
    for paragraph in text.splitlines() or [""]:
        yield from textwrap.wrap(
            paragraph,
            max(width, 40),
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def label_width(labels: Sequence[str]) -> int:
    """Return the width of the column for these labels, at most 40."""
    return min(max(map(len, labels), default=0), 40)


def entry(run: Result, before: Result | None, column: int, width: int, paint: Paint = plain) -> str:
    """Yield a run's line, below a heading if its scenario differs from the previous run's."""
    line = row(run, column, width, paint)
    same = before is not None and before.scenario == run.scenario
    return line if same else f"{heading(run, width, paint)}\n{line}"


def cause(run: Result, before: Result | None, width: int) -> Iterator[str]:
    """Yield the lines below the line of a failing run.

    They are its first cause, unless the previous run has the same one, and the kept folder."""
    found = run.verdict.failing[:1]
    for finding in () if before and _first(before) == _first(run) else found:
        yield cut(f"      {one_line(finding)}", width)
    if run.kept:
        yield f"      kept: {run.kept}"
    if run.output_file and found:
        yield f"      output: {run.output_file}"


def _first(run: Result) -> list[tuple[str, Cause]]:
    """Return the code and the cause of the first finding that fails a run."""
    return [with_cause(finding).group for finding in run.verdict.failing[:1]]


def one_line(finding: Finding) -> str:
    """Return the message of a finding in one line."""
    return " ".join(finding.message.split())


def blocks(
    runs: Sequence[Result], width: int, paint: Paint = plain, verbose: bool = False
) -> Iterator[str]:
    """Yield a block for each run that did not pass; with `verbose`, for each run."""
    for run in runs:
        if verbose or run.word in ("fail", "unknown"):
            yield ""
            yield block(run, width, paint, verbose)
