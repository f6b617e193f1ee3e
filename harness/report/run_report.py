"""The text report of runs: a line for each, and a block for one that is shown whole.

It omits durations, so one seed gives one text. Commands are never wrapped, so that they can be
copied. Colour comes from a `paint` function and leaves the text unchanged.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from harness.core.values.verdict import Finding, Verdict, VerdictWord
from harness.core.values.visible_text import visible_line
from harness.report.event_lines import counted
from harness.report.run_summary import RunSummary

Style = Literal["pass", "fail", "unknown", "not_applicable", "strong", "faint"]
Paint: TypeAlias = Callable[[Style, str], str]

MARKS: dict[VerdictWord, str] = {"pass": "✓", "fail": "✗", "unknown": "?", "not_applicable": "-"}
WORDS: dict[VerdictWord, str] = {
    "pass": "passed",
    "fail": "failed",
    "unknown": "unknown",
    "not_applicable": "not applicable",
}
CRASHED = "target.crashed"
ALIKE_MAX = 3
"""How many findings of one code a block shows in full."""

EVIDENCE_MAX = 6
"""How many events a finding shows before it says how many more there are."""


def plain(style: Style, text: str) -> str:
    """No colour."""
    return text


def cut(text: str, width: int) -> str:
    """`text` on one line, in at most `width` columns."""
    text = visible_line(text)
    return text if len(text) <= width else f"{text[: max(width, 1) - 1]}…"


def label(name: str, scenario: str) -> str:
    """What tells a run from others of its scenario: `baseline+stream`, `VARIANT@WIRE`."""
    rest = name.removeprefix(scenario)
    return rest[1:] if rest.startswith("/") else f"baseline{rest}"


def heading(run: RunSummary, width: int, paint: Paint = plain) -> str:
    """The line above the runs of one scenario: its name and title."""
    room = width - len(run.scenario) - 2
    title = f"  {paint('faint', cut(run.title, room))}" if run.title and room > 8 else ""
    return f"{paint('strong', run.scenario)}{title}"


def row(run: RunSummary, column: int, width: int, paint: Paint = plain) -> str:
    """One run: mark, label, and its outcome, or the codes of what was found."""
    said = cut(_said(run.verdict), max(width - column - 6, 20))
    name = label(run.name, run.scenario)
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
    """How many findings a verdict has beside the first one."""
    others = len(verdict.findings) - 1
    return f", {others} more" if others else ""


def codes(found: Iterable[Finding]) -> str:
    """The codes of findings, each once and with how often it stands there."""
    times = Counter(finding.code for finding in found)
    return ", ".join(code if n == 1 else f"{code} x{n}" for code, n in times.items())


def block(run: RunSummary, width: int, paint: Paint = plain, verbose: bool = False) -> str:
    """What went wrong in a run, the events that prove it, and how to see it again."""
    return "\n".join(
        [
            f"{paint(run.word, _word(run))} {paint('strong', run.name)}",
            *findings(run.verdict, run.evidence, width, paint, run.frames),
            *_traceback(run, verbose),
            *_seen(run, width),
            *_known(run.verdict, width),
            *_rest(run.verdict, width, verbose),
            *ways_on(run),
        ]
    )


def _word(run: RunSummary) -> str:
    return {"pass": "PASS", "fail": "FAIL"}.get(run.word, WORDS[run.word].upper())


def findings(
    verdict: Verdict,
    evidence: dict[int, str],
    width: int,
    paint: Paint = plain,
    frames: Sequence[str] = (),
) -> Iterator[str]:
    """Findings with the events that prove them; of many with one code the first ones.

    What follows from another finding stands under it, without events. `frames` are the user's own
    frames of a crash of the target.
    """
    seen = Counter[str]()
    for finding in verdict.findings:
        seen[finding.code] += 1
        if seen[finding.code] > ALIKE_MAX:
            continue
        indent = "    " if finding.follows else "  "
        yield indent + finding_title(finding, verdict, paint)
        yield from wrapped(finding.message, width, f"{indent}  ")
        if finding.code == CRASHED:
            yield from (f"      {frame}" for frame in frames)
        if not finding.follows:
            yield from _proof(finding, evidence, width, paint)
    for code, number in seen.items():
        if number > ALIKE_MAX:
            yield paint("faint", f"  and {number - ALIKE_MAX} more of {code}")


def finding_title(finding: Finding, verdict: Verdict, paint: Paint = plain) -> str:
    """The code of a finding, its class if it has one, and whether it follows from another."""
    fails = finding.fails(verdict.fail_on)
    said = paint("fail" if fails else "faint", finding.code)
    return f"{'follows: ' if finding.follows else ''}{said}{finding_note(finding, fails)}"


def finding_note(finding: Finding, fails: bool) -> str:
    """The class of a finding and whether it fails no run, as they stand behind its code."""
    notes = ", ".join(filter(None, [finding.class_, "" if fails else "not failing"]))
    return f"  ({notes})" if notes else ""


def _traceback(run: RunSummary, verbose: bool) -> Iterator[str]:
    if run.traceback and verbose:
        yield "  traceback:"
        yield from (f"    {line}" for line in run.traceback.splitlines())


def _seen(run: RunSummary, width: int) -> Iterator[str]:
    """Yield the public incidents that a failing run repeats."""
    for incident in run.seen:
        yield from wrapped(f"would repeat {incident}", width, "  ")


def _known(verdict: Verdict, width: int) -> Iterator[str]:
    for finding in verdict.known:
        yield f"  known: {finding.code}"
        yield from wrapped(finding.message, width, "    ")


def _proof(finding: Finding, evidence: dict[int, str], width: int, paint: Paint) -> Iterator[str]:
    for n in finding.events[:EVIDENCE_MAX]:
        yield paint("faint", cut(f"    #{n:<5}{evidence.get(n, '')}".rstrip(), width))
    more = len(finding.events) - EVIDENCE_MAX
    if more > 0:
        yield paint("faint", f"    and {counted(more, 'more event')}")


def _rest(verdict: Verdict, width: int, verbose: bool) -> Iterator[str]:
    for doubt in verdict.doubts:
        yield from wrapped(f"doubt: {doubt}", width, "  ")
    if verbose:
        yield from asides(verdict, width)


def asides(verdict: Verdict, width: int) -> Iterator[str]:
    """The checks that passed, and those that could not be asked."""
    if verdict.passed:
        yield from wrapped(f"passed: {', '.join(verdict.passed)}", width, "  ")
    for check in verdict.not_applicable:
        yield from wrapped(f"not applicable: {check.check} ({check.reason})", width, "  ")


def ways_on(run: RunSummary) -> Iterator[str]:
    """How the first finding is explained, where the run is, and how it is seen again."""
    for finding in run.verdict.findings[:1]:
        yield f"  explain: harness explain {finding.code}"
    if run.history:
        yield f"  history: {run.history}"
    if run.kept:
        yield f"  kept:    {run.kept}"
    if run.repeat:
        yield f"  repeat:  {run.repeat}"


def wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    """Prose in lines of at most `width` columns; a word that is longer stays whole."""
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
    """The width of the column that holds these labels, at most 40."""
    return min(max(map(len, labels), default=0), 40)


def entry(
    run: RunSummary, before: RunSummary | None, column: int, width: int, paint: Paint = plain
) -> str:
    """A run's line, under a heading when its scenario is another than that of the run before."""
    line = row(run, column, width, paint)
    same = before is not None and before.scenario == run.scenario
    return line if same else f"{heading(run, width, paint)}\n{line}"


def cause(run: RunSummary, before: RunSummary | None, width: int) -> Iterator[str]:
    """The lines under the line of a failing run: its first cause, unless the run before has the
    same one, and the folder that was kept."""
    found = run.verdict.failing[:1]
    same = before is not None and _first(before) == _first(run)
    for finding in () if same else found:
        yield cut(f"      {one_line(finding)}", width)
    if run.kept:
        yield f"      kept: {run.kept}"


def _first(run: RunSummary) -> list[tuple[str, str]]:
    return [(finding.code, finding.message) for finding in run.verdict.failing[:1]]


def one_line(finding: Finding) -> str:
    """The message of a finding in one line."""
    return " ".join(finding.message.split())


def blocks(
    runs: Sequence[RunSummary], width: int, paint: Paint = plain, verbose: bool = False
) -> Iterator[str]:
    """A block for each run that did not pass; with `verbose` for each run."""
    for run in runs:
        if verbose or run.word in ("fail", "unknown"):
            yield ""
            yield block(run, width, paint, verbose)
