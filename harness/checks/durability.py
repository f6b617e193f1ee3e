"""Whether the agent repeats a write that the store refused, or reports the loss.

Most store failures are short, so a refused write deserves some tries.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from harness.checks.evidence.declarations import asks_write_order, counted_anew, excused_by, needs
from harness.checks.evidence.excuses import FAILED_STORE, Case
from harness.checks.evidence.stored_messages import inbound_rows, reply_rows
from harness.checks.evidence.turn_outcomes import claimed, is_a_reply, is_local, is_resent, is_taken
from harness.core.history.events import Answered, Called, Killed
from harness.core.history.exchanges import Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.calls import StoreRequest
from harness.core.values.verdict import Finding

_OVER = ("returned", "crashed")


@needs("store", "outbox", told_by="run", place=360)
@counted_anew("a kill")
def no_silent_loss(history: History, *, attempts: int = 10) -> Iterator[Finding]:
    """The agent writes a refused row in a later attempt, or tells the user that it is lost.

    `lost`: a write of rows failed (locked, full, an I/O error), no later write kept those rows, and
    the user was not told. A notice, an error, or a final that claims no success tells the user,
    until the end of the session's next turn. `unbounded`: one write is refused more than `attempts`
    times in a row in a turn.

    Not a finding: a retry that succeeds, now or in a later turn; a write that is reported as failed
    but kept its rows; a row that a kill lost; a mark without a row, such as "reply delivered".

    A database that was briefly locked lost the write (mem0ai/mem0#7196), or the history for the
    rest of the session (NousResearch/hermes-agent#3180). To fix it, try a few times with growing
    pauses, and report rows that could not be stored. Source: invariant 28.
    """
    trace = history.trace
    writes = _Writes(trace)
    for n in writes.refused_more_than(attempts):
        events = writes.events
        text = f"one write of the store is refused {attempts + 1} times in a row, and tried again"
        yield Finding("no_silent_loss.unbounded", text, (events[n][0], n))
    if trace.ended is None or trace.ended.how not in _OVER:
        return
    kept = {row.digest: s.n for s in trace.stored for row in (*s.added, *s.changed)}
    told = _Told(trace)
    for (session, request), failed in writes.open.items():
        first_n = failed[0]
        lost = [digest for digest in request.rows if kept.get(digest, 0) < first_n]
        if lost and not told.after(session, first_n):
            rows = "a row" if len(lost) == 1 else f"{len(lost)} rows"
            gone = f"{rows} lost in {session}" if session else f"{rows} lost"
            text = f"the store refused {request.operation}: {gone}, and the user is not told"
            yield Finding("no_silent_loss.lost", text, (first_n, trace.ended.n))


class _Writes:
    """The writes of a store. `open` holds the failed writes without a later success, with the
    events of the refusals. `events` maps the last refusal of a write in one turn to all of them.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.open: dict[tuple[str, StoreRequest], list[int]] = {}
        self.events: dict[int, list[int]] = {}
        self._in_turns: dict[tuple[str, int, StoreRequest], list[int]] = {}

    def refused_more_than(self, attempts: int) -> Iterator[int]:
        """Read all writes; yield the refusal that exceeds `attempts`, once for each write."""
        called: dict[str, Called] = {}
        for event in self._trace.events:
            if isinstance(event, Called):
                if isinstance(event.request, StoreRequest) and event.request.access == "write":
                    called[event.key] = event
            elif isinstance(event, Killed):
                self.open.clear()
                self._in_turns.clear()
            elif isinstance(event, Answered) and (call := called.pop(event.key, None)):
                self._answered(call, event)
                if len(self.events.get(event.n, ())) == attempts + 1:
                    yield event.n

    def _answered(self, call: Called, answered: Answered) -> None:
        assert isinstance(call.request, StoreRequest)
        write, in_turn = (call.session, call.request), (call.session, call.turn, call.request)
        if answered.outcome == "ok":
            self.open.pop(write, None)
            self._in_turns.pop(in_turn, None)
        else:
            self.open.setdefault(write, []).append(answered.n)
            refusals = self._in_turns.setdefault(in_turn, [])
            refusals.append(answered.n)
            self.events[answered.n] = refusals


class _Told:
    """The events at which a failure was reported to users."""

    def __init__(self, trace: Trace) -> None:
        self._said: dict[str, list[int]] = {}
        self._begun: dict[str, list[int]] = {}
        for sending in trace.sendings:
            if _tells(sending):
                self._said.setdefault(sending.called.session, []).append(sending.n)
        for delivery in trace.deliveries:
            self._begun.setdefault(delivery.inbound.session, []).append(delivery.n)

    def after(self, session: str, n: int) -> bool:
        """Whether the user was told between an event and the end of the session's next turn."""
        said, begun = self._said.get(session, []), self._begun.get(session, [])
        place, turn = bisect_right(said, n), bisect_right(begun, n)
        return place < len(said) and (turn + 1 >= len(begun) or said[place] < begun[turn + 1])


def _tells(sending: Sending) -> bool:
    """Whether a delivered sending reports a failure."""
    kind = sending.request.kind
    if not is_taken(sending):
        return False
    return kind in ("notice", "error") or (kind == "final" and claimed(sending) != "completed")


@needs("store", "inbox", "model", "outbox", told_by="run", place=350)
@asks_write_order("inbound", "reply")
@excused_by(reply=(FAILED_STORE,))
def durable_first(history: History) -> Iterator[Finding | Case]:
    """The agent stores a message before others rely on it.

    `inbound`: a message must be stored before its first request to the model. `reply`: a final must
    be stored before it is delivered. Source: invariant 26.
    """
    trace = history.trace
    for turn in trace.turns.values():
        if turn.delivery is None or not turn.text.strip() or is_local(turn):
            continue
        if is_resent(turn):
            continue  # it was stored before the message came again
        if turn.main and not any(p.n < turn.main[0].n for p in inbound_rows(trace, turn)):
            text = f"{turn.words}: the model is asked before the inbound message is stored"
            yield Finding("durable_first.inbound", text, (turn.delivery.n, turn.main[0].n))
        for sending in turn.sendings:
            said = sending.request
            if said.kind != "final" or not said.text.strip() or not is_a_reply(sending):
                continue
            if not any(p.n < sending.n for p in reply_rows(trace, turn, said.text)):
                text = f"{turn.words}: the reply is delivered before it is stored"
                found = Finding("durable_first.reply", text, (sending.n,))
                yield Case("reply", [found], turn)
