"""The marks of the agent's own code that a history holds, and which of them it came to."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.history.events import Marked
from harness.core.history.trace import Trace
from harness.core.values.mark_kinds import is_met, is_owed


def seen_marks(trace: Trace) -> Iterator[Marked]:
    """Yield the marks that the agent came to; one that is only declared is none."""
    return (mark for mark in _marks(trace) if mark.holds is not None)


def met_marks(trace: Trace) -> set[str]:
    """The names of the marks that were reached, or that held once."""
    return {mark.name for mark in _marks(trace) if is_met(mark.kind, mark.holds)}


def owed_marks(trace: Trace) -> set[str]:
    """The names of the marks that a campaign is to reach, met or not."""
    return {mark.name for mark in _marks(trace) if is_owed(mark.kind)}


def _marks(trace: Trace) -> Iterator[Marked]:
    return (event for event in trace.events if isinstance(event, Marked))
