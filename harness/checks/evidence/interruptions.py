"""What a kill leaves open: a step that was begun, and of which nothing is known any more.

An agent that starts again knows what it has stored, and of a request that failed it has nothing to
store, nor of what came after it and was not stored yet. So it begins the step again, with the same
request: once for each kill, and that is no resend in blindness.
"""

from __future__ import annotations

from bisect import bisect

from harness.core.history.exchanges import Exchange
from harness.core.history.trace import Trace, Turn


def may_begin_again(trace: Trace, turn: Turn, failed: Exchange, again: Exchange) -> bool:
    """Whether the agent was killed between two requests, before anything came of the first that it
    can know: no answer kept (or none to keep, where its store is not seen), no tool run, nothing
    said that ends the turn."""
    kill = bisect(trace.kills, failed.n)
    if kill == len(trace.kills) or trace.kills[kill] > again.n:
        return False
    if "store" in trace.seams:
        came = [event.n for event in trace.stored_during(turn) if event.added]
    else:
        came = [e.n for e in turn.main if e.succeeded and not e.too_large]
    came += [e.n for e in turn.executions] + [s.n for s in turn.endings]
    return not any(failed.n < n < trace.kills[kill] for n in came)


def is_killed_between(trace: Trace, first_n: int, last_n: int) -> bool:
    """Whether the agent was killed between two events."""
    return bisect(trace.kills, first_n) != bisect(trace.kills, last_n)
