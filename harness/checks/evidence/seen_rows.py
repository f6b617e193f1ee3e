"""Rows of a store with marks that occur once: the message that a row keeps, or its calls."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from operator import attrgetter

from harness.checks.evidence.stored_messages import is_shared, may_keep, named_inbound, squeeze
from harness.checks.evidence.turn_outcomes import claimed
from harness.core.history.events import StoredRow
from harness.core.history.trace import Trace
from harness.core.values.messages import Message


class SeenRows:
    """The current rows: the first event of each text, and the marks that may occur only once."""

    def __init__(self) -> None:
        self.since: dict[tuple[str, str], int] = {}
        self._keys: dict[str, tuple[str, str]] = {}
        self._marks: dict[tuple[str, ...], set[str]] = {}
        self._of: dict[str, tuple[str, ...]] = {}
        self._calls: dict[str, tuple[tuple[str, str], ...]] = {}
        self._called: Counter[tuple[str, str]] = Counter()
        self._summed_n = 0

    def add(self, trace: Trace, row: StoredRow, message: Message, n: int, session: str) -> bool:
        """Add a row; return whether as many other rows as may have its mark have it already.

        An agent's own store may name no session in its rows, and two sessions may number their
        calls alike: `session` is then that of the newest turn. A damaged session may hold two calls
        of one id, and each has a result. A log to which rows are only added has what a summary
        leaves behind that summary once again.
        """
        self._summed_n = n if _is_summary(trace, message, n) else self._summed_n
        self._calls[row.id] = tuple((session, use.id) for use in message.tool_uses)
        self._called.update(self._calls[row.id])
        key = self._keys[row.id] = row.session, row.digest
        self.since.setdefault(key, n)
        if not (mark := mark_of(row, message)):
            return False
        mark = (session, *mark)
        if is_shared(trace, row, named_inbound(row, message)):
            mark = (*mark, squeeze(message.text))  # such rows differ in their text alone
        holders = self._marks.setdefault(mark, set())
        holders.add(row.id)
        self._of[row.id] = mark
        asked = [self._called[session, result.id] for result in message.tool_results]
        most = max(1, may_keep(trace, row, message), min(asked, default=1))
        return len(holders) > most and self._summed_n != n

    def remove(self, rows: tuple[str, ...]) -> None:
        """Remove rows and their marks."""
        for row in rows:
            self.since.pop(self._keys.pop(row, ("", "")), None)
            self._called.subtract(self._calls.pop(row, ()))
            mark = self._of.pop(row, None)
            if mark is not None:
                self._marks[mark].discard(row)


def _is_summary(trace: Trace, message: Message, n: int) -> bool:
    """Whether a message holds the words of the newest summary before an event."""
    at = bisect_left(trace.compactions, n, key=attrgetter("n"))
    calls = trace.compactions[at - 1].calls if at else []
    said = squeeze(calls[-1].reply.text) if calls and calls[-1].reply else ""
    return bool(said) and message.role != "assistant" and said in squeeze(message.text)


def mark_of(row: StoredRow, message: Message) -> tuple[str, ...]:
    """The mark that at most one row has: the label of an inbound message, or the ids of tool
    blocks."""
    if name := named_inbound(row, message):
        return ("inbound", name)
    calls = tuple(use.id for use in message.tool_uses)
    results = tuple(result.id for result in message.tool_results)
    return ("calls", *calls) if calls else ("results", *results) if results else ()


def since(trace: Trace, asked: tuple[str, int], n: int) -> str:
    """What ended a turn before an event otherwise than by its answer, in words."""
    if (turn := trace.turns.get(asked)) is None:
        return ""
    if 0 < turn.cancelled_n < n:
        return f", after the cancel of {turn.words}"
    if any(turn.opened_n < kill < n for kill in trace.kills):
        return f", after a kill in {turn.words}"
    failed = any(e.n < n and claimed(e) != "completed" for e in turn.endings)
    return f", after {turn.words} failed" if failed else ""
