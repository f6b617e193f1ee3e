"""What runs never reached, in at most six lines of 80 columns; the JSON object has all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.checks.judge import rules
from harness.checks.judge.questions import asked_by
from harness.faults import faults
from harness.report.run_report import wrapped
from harness.verdicts.reach import MOMENTS, STATES, Reach

WIDTH = 80


def reach_lines(reach: Reach, width: int = WIDTH, verbose: bool = False) -> Iterator[str]:
    """Yield the totals and what is missing; with `verbose` every name, and rules by their event."""
    if not reach.asked:
        return
    wide = min(width, WIDTH)
    yield f"reached: {', '.join(_totals(reach))}"
    for head, names in _missing(reach, verbose):
        if verbose and names:
            yield from wrapped(f"{head}: {', '.join(names)}", width, "  ")
        elif names:
            yield _as_fits(f"  {head}: ", names, wide)
    if verbose:
        yield from _rules_by_event(reach, width)


def _totals(reach: Reach) -> Iterator[str]:
    checks, codes = reach.never_asked, rules()
    asked = sum(code in reach.asked for code in codes)
    own = sum(name in reach.asked for name in reach.own_checks)
    yield f"{own} of {own + len(checks)} checks"
    yield f"{asked} of {len(codes)} rules"
    if reach.has_history:
        yield f"{len(reach.struck)} of {len(faults())} faults"
        yield f"{len(MOMENTS) - len(reach.never_came)} of {len(MOMENTS)} moments"


def _missing(reach: Reach, verbose: bool) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what is missing of each kind; a layer in which no fault struck has no share."""
    if reach.struck:
        yield "faults by layer", [f"{one.name} {one.struck}/{one.known}" for one in reach.layers]
        yield "no fault struck in", reach.layers_not_exercised
    if reach.has_history:
        yield "never came", [name for name in reach.never_came if name in STATES]
    yield "never asked", reach.never_asked
    yield from _marks(reach, verbose)


def _marks(reach: Reach, verbose: bool) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the marks of the agent's code that no run came to; the others where all came."""
    known, never = len({*reach.marks, *reach.owed}), reach.marks_never_true
    yield f"marks never true, {len(never)} of {known}", never
    if verbose or not never:
        yield "marks", sorted(reach.marks)


def _as_fits(head: str, names: Sequence[str], width: int) -> str:
    """Return as many names as fit in a line, and the number of the others."""
    for shown in range(len(names), 0, -1):
        left = len(names) - shown
        line = f"{head}{', '.join(names[:shown])}{f', and {left} more' if left else ''}"
        if len(line) <= width:
            return line
    return f"{head}{len(names)}"


def _rules_by_event(reach: Reach, width: int) -> Iterator[str]:
    by_event: dict[str, list[str]] = {}
    for code in reach.rules_never_asked:
        by_event.setdefault(asked_by(rules()[code]), []).append(code)
    for event, codes in by_event.items():
        yield from wrapped(f"rules that need {event}: {', '.join(codes)}", width, "  ")
