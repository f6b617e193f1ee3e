"""The excuses: events after which a rule does not apply, each defined once, with its end.

An excuse takes out of a check's sight only what its event can explain. A kill explains that a
message begins again; it explains nothing more once the reply has been delivered. In incident 153
a kill excused three different answers to one message.

Each check states its own excuses (`excused_by`). A check that counts cannot be filtered afterwards,
so it asks `holds_for`, `is_killed_between` or `may_begin_again` itself.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import islice

import msgspec

from harness.checks.evidence.stored_messages import written_by_another
from harness.checks.evidence.turn_outcomes import is_over_window, taken_turns
from harness.core.history.events import Accepted, Called, Stored
from harness.core.history.exchanges import Exchange
from harness.core.history.trace import Trace, Turn
from harness.core.values.verdict import Finding

NEVER = 1 << 62
"""The number of an event that comes after all others."""


class Case(msgspec.Struct, frozen=True, eq=False):
    """Findings of a check that an excuse may remove.

    `rule` is the name under which the check declares its excuses: a rule, or a part of one. `turn`
    is the turn of the findings. An excuse must come before event `n`; an excuse between two events
    must also come after `since_n`. `findings` is read only if no excuse holds.
    """

    rule: str
    findings: Iterable[Finding]
    turn: Turn
    n: int = NEVER
    since_n: int = 0


class Marks:
    """The excusing events of one run; each kind is read once, when a case first needs it."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def compactions(self) -> dict[str, list[int]]:
        """The compactions of each session."""
        return _by_session((c.turn.session, c.n) for c in self.trace.compactions)

    @cached_property
    def accepted(self) -> list[int]:
        """The events at which a reader had accepted its last message, in order."""
        return [event.n for event in self.trace.events if isinstance(event, Accepted)]

    @cached_property
    def over_window(self) -> dict[str, list[int]]:
        """The events after the requests of each session that were over the window."""
        exchanges = (e for e in self.trace.exchanges if is_over_window(e))
        return _by_session((e.called.session, e.n + 1) for e in exchanges)

    @cached_property
    def writes_of_others(self) -> list[int]:
        """The events at which another process stored something."""
        return written_by_another(self.trace)

    @cached_property
    def taken(self) -> set[tuple[str, int]]:
        """The turns whose message another process on the session accepted first."""
        return taken_turns(self.trace)

    @cached_property
    def starts(self) -> list[int]:
        """The starts of the agent, in order."""
        return [start.n for start in self.trace.starts]


def _by_session(found: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    events: dict[str, list[int]] = {}
    for session, n in sorted(found, key=lambda each: each[1]):
        events.setdefault(session, []).append(n)
    return events


class Excuse(msgspec.Struct, frozen=True, eq=False):
    """An excuse: its words, a function that says whether it holds for a case, and its end."""

    words: str
    holds: Callable[[Marks, Case], bool]
    until: str = "the end of the turn"


def is_excused(marks: Marks, case: Case, excuses: Iterable[Excuse]) -> bool:
    """Whether any of the excuses holds for a case."""
    return any(excuse.holds(marks, case) for excuse in excuses)


def holds_for(turn: Turn, marks: Marks, excuses: Iterable[Excuse]) -> bool:
    """Whether any of the excuses holds for a turn, at any event.

    Checks that count turns call this first, so that an excused turn does not count.
    """
    return is_excused(marks, Case("", (), turn), excuses)


def may_begin_again(trace: Trace, turn: Turn, failed: Exchange, again: Exchange) -> bool:
    """Whether a kill between two requests allows the agent to repeat the first one.

    A restarted agent knows only what it stored. It stored nothing about a failed request, so it may
    repeat that step once for each kill. It may not if the first request had a result before the
    kill. A result is a stored answer (any answer, if the store is not visible), a tool that ran, or
    a message that ends the turn.
    """
    kill = bisect(trace.kills, failed.n)
    if kill == len(trace.kills) or trace.kills[kill] > again.n:
        return False
    if "store" in trace.seams:
        own = {"", turn.session}
        looks = trace.stored_during(turn)
        came = [look.n for look in looks if any(row.session in own for row in look.added)]
    else:
        came = [e.n for e in turn.main if e.succeeded and not e.too_large]
    came += [e.n for e in turn.executions] + [s.n for s in turn.endings]
    return not any(failed.n < n < trace.kills[kill] for n in came)


def is_killed_between(trace: Trace, first_n: int, last_n: int) -> bool:
    """Whether the agent was killed between two events."""
    return bisect(trace.kills, first_n) != bisect(trace.kills, last_n)


def dies_at_once(trace: Trace, n: int) -> int:
    """The kill behind an event after which the agent did nothing, so that it kept nothing of it;
    `NEVER` without one."""
    place = bisect(trace.kills, n)
    kill_n = trace.kills[place] if place < len(trace.kills) else NEVER
    done = islice(trace.events, n, kill_n - 1) if kill_n < NEVER else ()
    return NEVER if any(isinstance(event, (Called, Stored)) for event in done) else kill_n


def _is_shared(marks: Marks, case: Case) -> bool:
    first_n = case.turn.begun_n or case.turn.opened_n
    return any(first_n <= n <= case.turn.settled_n for n in marks.writes_of_others)


def _is_rewritten(marks: Marks, case: Case) -> bool:
    looks = marks.trace.stored_during(case.turn)
    return any(look.gone or look.n in marks.trace.damages for look in looks)


def _is_laid_twice(marks: Marks, case: Case) -> bool:
    laid = (a.n for a in marks.trace.answers if "persistence.row_duplicated" in a.faults)
    return any(case.turn.opened_n < n < case.n for n in laid)


def _is_any_between(events: Sequence[int], case: Case) -> bool:
    return bisect(events, case.since_n) != bisect(events, case.n)


def _is_killed(_: Marks, case: Case) -> bool:
    """Whether a kill interrupted the turn, and no reply of it was delivered before the case."""
    killed_n = case.turn.interrupted_n
    delivered = any(killed_n < ending.n < case.n for ending in case.turn.endings)
    return 0 < killed_n < case.n and not delivered


def _is_killed_before_accepted(marks: Marks, case: Case) -> bool:
    """Whether a kill interrupted the turn of a message that comes again, or whose row a fault lost:
    what a reader had accepted, it has to keep."""
    came_n = case.turn.delivery.n if case.turn.delivery else case.turn.opened_n
    at = bisect(marks.accepted, came_n)
    is_kept = any(n < case.turn.interrupted_n for n in marks.accepted[at : at + 1])
    return _is_killed(marks, case) and (not is_kept or bool(marks.trace.damages))


TAKEN = Excuse(
    "a message that another process has accepted first",
    lambda m, c: (c.turn.session, c.turn.number) in m.taken,
)
BLANK = Excuse("a message without text", lambda _, c: not c.turn.text.strip())
REDELIVERY = Excuse("a message that was answered before", lambda _, c: c.turn.redelivery)
CANCEL = Excuse("a cancel of the turn", lambda _, c: 0 < c.turn.cancelled_n < c.n)
KILL = Excuse("a kill of the agent in the turn", _is_killed, "a reply of the turn is delivered")
KILL_BEFORE_ACCEPTED = Excuse(
    "a kill of the agent before it had accepted the message",
    _is_killed_before_accepted,
    "a reply of the turn is delivered",
)
LIMIT = Excuse(
    "a limit of the harness in the turn", lambda _, c: any(a.n < c.n for a in c.turn.limits)
)
REFUSED_WRITE = Excuse(
    "a write that the store refused in the turn",
    lambda _, c: any(n < c.n for n in c.turn.unstored.values()),
)
FAILED_STORE = Excuse(
    "a store that refused a write permanently, with a report to the user",
    lambda _, c: c.turn.store_failed,
)
ANOTHER_WRITER = Excuse("another process that wrote to the session in the turn", _is_shared)
REWRITTEN_STORE = Excuse(
    "rows that a compaction replaced or a fault damaged in the turn", _is_rewritten
)
LAID_TWICE = Excuse("a row that a fault laid twice in the turn", _is_laid_twice)
COMPACTION = Excuse(
    "a compaction in the turn", lambda m, c: any(x.turn is c.turn for x in m.trace.compactions)
)
_SECOND = "the second of the two events"
COMPACTION_BETWEEN = Excuse(
    "a compaction of the session between the two",
    lambda m, c: _is_any_between(m.compactions.get(c.turn.session, ()), c),
    _SECOND,
)
OVERFLOW_BETWEEN = Excuse(
    "a request of the session over the window between the two",
    lambda m, c: _is_any_between(m.over_window.get(c.turn.session, ()), c),
    _SECOND,
)
KILL_BETWEEN = Excuse(
    "a kill between the two", lambda m, c: is_killed_between(m.trace, c.since_n, c.n), _SECOND
)
BREAK_BETWEEN = Excuse(
    "a compaction of the session or a start of the agent between the two",
    lambda m, c: _is_any_between(m.starts, c) or COMPACTION_BETWEEN.holds(m, c),
    _SECOND,
)
