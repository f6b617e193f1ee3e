"""Which finding follows from which, so that a verdict reports the cause first.

`causes.tsv` lists, for a code or a whole check (`check.*`), the findings that may cause it, and the
tie that their events must have. `event`: they share an event. `turn`: they share an event or a
turn. `later`: as `turn`, or the cause comes before the evidence of the other finding. `run`: they
are of one run. A finding without a tie is reported by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from types import MappingProxyType
from typing import Literal

import msgspec

from harness.core.history.history import History
from harness.core.values.table_file import table
from harness.core.values.verdict import CLASSES, Finding


class CauseRow(msgspec.Struct, frozen=True):
    """The findings that may cause a finding, how they must be tied, and the reason."""

    finding: str
    tie: Literal["event", "turn", "later", "run"]
    causes: tuple[str, ...]
    reason: str


CAUSES: MappingProxyType[str, CauseRow] = table("harness.checks", "causes.tsv", CauseRow)
"""The rows by the code of the finding that follows, in the order of the file."""

Places = dict[int, tuple[str, int]]
"""The session and the turn of events, by their number."""


def from_causes(findings: Sequence[Finding], history: History) -> tuple[Finding, ...]:
    """Return the findings in order, each after its cause; `follows` names the cause.

    The end of the target and a run without a request come first. Defects, weaknesses, advice and
    book-keeping follow.
    """
    ordered = sorted(findings, key=rank)
    if len(ordered) < 2:
        return tuple(ordered)
    cause_of = _causes(ordered, _places(history))
    roots = [place for place in range(len(ordered)) if place not in cause_of]
    return tuple(f for root in roots for f in _told(ordered, cause_of, root))


def rank(finding: Finding) -> int:
    """The sort key of a finding: the end of the target first, then the classes in order."""
    if finding.check == "target" or finding.code == "run.nothing_intercepted":
        return -1
    return CLASSES.index(finding.class_) if finding.class_ else len(CLASSES)


def _places(history: History) -> Places:
    events = ((e.n, getattr(e, "session", ""), getattr(e, "turn", 0)) for e in history.events)
    return {n: (session, turn) for n, session, turn in events if turn}


def _causes(ordered: Sequence[Finding], places: Places) -> dict[int, int]:
    """Map the index of each finding that has a cause to the index of that cause."""
    found: dict[int, int] = {}
    for place, finding in enumerate(ordered):
        row = CAUSES.get(finding.code) or CAUSES.get(f"{finding.check}.*")
        if row is None:
            continue
        tied = partial(_is_tied, row, finding, places)
        cause = next((n for n, other in enumerate(ordered) if tied(other)), None)
        if cause is not None:
            found[place] = cause
    return found


def _is_tied(row: CauseRow, finding: Finding, places: Places, cause: Finding) -> bool:
    """Whether a finding is a cause of another by code and by events."""
    if cause.code not in row.causes and f"{cause.check}.*" not in row.causes:
        return False
    if row.tie == "run" or not finding.events or not cause.events:
        return row.tie == "run"
    if not set(finding.events).isdisjoint(cause.events):
        return True
    own, others = ({places[n] for n in f.events if n in places} for f in (finding, cause))
    is_later = max(finding.events) >= min(cause.events)
    if row.tie == "turn":
        return not own.isdisjoint(others) or (not own and is_later)
    return row.tie == "later" and is_later


def _told(ordered: Sequence[Finding], cause_of: dict[int, int], place: int) -> Iterator[Finding]:
    """Yield a finding, then the findings that follow from it."""
    cause = cause_of.get(place)
    follows = ordered[cause].code if cause is not None else ""
    yield msgspec.structs.replace(ordered[place], follows=follows)
    for other, its_cause in cause_of.items():
        if its_cause == place:
            yield from _told(ordered, cause_of, other)
