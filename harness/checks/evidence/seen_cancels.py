"""Whether an agent had seen a cancel as it began a call.

A cancel counts from the moment the agent sees it, because work under way cannot be undone.
"""

from __future__ import annotations

from itertools import islice

from harness.checks.evidence.excuses import dies_at_once
from harness.core.history.events import Answered, AnyEvent, Called
from harness.core.history.exchanges import Crossing
from harness.core.history.trace import Trace, Turn
from harness.core.history.trace_fold import REACTION_MS
from harness.core.values.calls import InboxRequest


def is_after_cancel(trace: Trace, turn: Turn, crossing: Crossing) -> bool:
    """Whether the agent had seen the cancel. A pushed one may have crossed a call in transit. One
    that a reader took may too, until it asks again, and at that instant: its thread may wait."""
    taken, at_ms = trace.events[turn.cancelled_n - 1], crossing.called.at_ms
    is_before = crossing.n <= turn.cancelled_n or at_ms < turn.cancel_met_ms
    if is_before or dies_at_once(trace, taken.n) < crossing.n:
        return False
    is_seen = at_ms >= taken.at_ms + REACTION_MS or not _takes_beside(trace, taken)
    later = islice(trace.events, taken.n, crossing.n) if at_ms > taken.at_ms else ()
    return is_seen or any(map(_by_reader, later))


def crossed(trace: Trace, tool: str) -> int:
    """How many runs of a tool crossed a pushed cancel: the user's stop was on its way, or its
    process still ended."""
    return sum(
        execution.request.name == tool
        and 0 <= execution.called.at_ms - turn.cancel_met_ms + 2 * REACTION_MS < 2 * REACTION_MS
        for turn in trace.turns.values()
        if turn.cancelled_n and turn.cancel_met_ms
        for execution in turn.executions
    )


def _takes_beside(trace: Trace, taken: AnyEvent) -> bool:
    """Whether a cancel is the answer to a reader, which hands it on to what works beside it."""
    calls = (e for e in reversed(trace.events[: taken.n]) if isinstance(e, Called))
    key = taken.key if isinstance(taken, Answered) else ""
    return _by_reader(next((call for call in calls if call.key == key), taken))


def _by_reader(event: AnyEvent) -> bool:
    """Whether a reader asks for a message, which says that it has handed on the one before."""
    request = event.request if isinstance(event, Called) else None
    return isinstance(request, InboxRequest) and request.reader
