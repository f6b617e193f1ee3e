"""Reads a trace from the events of a history in one pass.

A call and its answer share a key. Session and number name a turn; the next look into the inbox
settles it.
"""

from __future__ import annotations

from collections.abc import Collection, Set

import msgspec

from harness.core.history.call_pairing import CallPairing, OpenQuestions
from harness.core.history.event_log import EventLog
from harness.core.history.events import (
    Answered,
    AnyEvent,
    Called,
    Ended,
    Killed,
    Noted,
    Started,
    Stored,
    Valued,
)
from harness.core.history.exchanges import (
    ENDINGS,
    Exchange,
    Execution,
    Node,
    Question,
    Sending,
    grow,
    root,
)
from harness.core.history.open_compactions import OpenCompactions
from harness.core.history.trace import Delivery, StoreDamage, Trace, Turn
from harness.core.values.calls import (
    ApprovalRequest,
    Inbound,
    InboxRequest,
    ModelRequest,
    OutboxRequest,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.messages import Json, Message, fitting, with_marks
from harness.core.values.plans import Wait
from harness.core.values.tool_names import ToolNames

REACTION_MS = 2000
"""The time, in milliseconds, after a pushed cancel in which a call may already be in transit."""

_NEVER = 1 << 62


def trace(history: EventLog, taken_back: Set[tuple[str, str]] = frozenset()) -> Trace:
    """The trace of a history; `taken_back` are messages that came no more after a kill."""
    reader = _Reader(history, taken_back)
    for event in history.events:
        reader.see(event)
    return reader.trace


class _Reader:
    def __init__(self, history: EventLog, taken_back: Set[tuple[str, str]]) -> None:
        self.trace = Trace(messages=history.messages, events=history.events)
        self._root = root()
        self._nodes: dict[str, Node] = {}
        self._open: dict[str, Exchange | Execution | Question | Sending | Called] = {}
        self._asked, self._sends_texts, self._says_texts = CallPairing(), False, False
        self._back = taken_back
        self._compactions = OpenCompactions(self.trace, history.values)
        self._delivered: Turn | None = None
        self._deliveries: dict[tuple[str, str], list[Turn]] = {}
        self._waiting: dict[str, list[Delivery]] = {}
        self._newest: dict[str, Turn] = {}
        self._offered: dict[tuple[str, str], int] = {}
        self._given, self._has_reader = set[tuple[str, str]](), False
        self._questions = OpenQuestions()
        self._damages = StoreDamage(self.trace.damages)

    def see(self, event: AnyEvent) -> None:
        match event:
            case Called():
                self._called(event)
            case Answered():
                self._answered(event)
            case Stored():
                self._stored(self._damages.stored(event))
            case Noted():
                if event.malformed:
                    self.trace.malformed.add(event.digest)
            case Valued():
                self.trace.schemas[event.digest] = offered_schemas(event.value)
                if event.malformed:
                    self.trace.malformed.add(event.digest)
            case Started():
                self._start(event)
            case Killed():
                self.trace.kills.append(event.n)
                self._damages.killed(event)
                self._given.clear()
                self._interrupt(event.n)
            case Ended():
                self.trace.ended = event
                for session, waiting in self._waiting.items():
                    waiting[:] = [d for d in waiting if (session, d.inbound.id) not in self._back]
                    self._begin_waiting(session, self._newest[session].number + len(waiting), event)
                self._questions.end()
                for turn in self.trace.turns.values():
                    self._settle(turn, event.n, event.how)

    def _stored(self, event: Stored) -> None:
        """Add a look at the store. An agent with its own store may copy the seed once its first
        message has come, with that or alone: such rows count as stored before the message.
        """
        trace, taken = self.trace, 0
        is_first = not any(look.added for look in trace.stored)
        if is_first and trace.own_store and len(trace.deliveries) == 1:
            said, most = with_marks(trace.deliveries[0].inbound.text), trace.settings.get("seeded")
            rows = [trace.messages.get(row.digest, Message("user")) for row in event.added]
            new = [n for n, m in enumerate(rows) if m.role == "user" and said in with_marks(m.text)]
            # Without a request nothing answers it, unless the user stopped the turn before one.
            has_words = trace.exchanges or any(t.cancelled_n for t in trace.turns.values())
            new = new if has_words else [n for n in new if n == len(rows) - 1]
            taken = min(fitting(rows, most or 0), new[-1] if new else len(rows)) if said else 0
        if taken:
            n = trace.starts[0].n
            trace.stored.insert(0, msgspec.structs.replace(event, n=n, added=event.added[:taken]))
            event = msgspec.structs.replace(event, added=event.added[taken:])
        trace.stored.append(event)

    def _start(self, event: Started) -> None:
        self._damages.over()
        self.trace.starts.append(event)
        if len(self.trace.starts) == 1:
            profile, tools = self.trace.profile, event.settings.get("tools")
            self._sends_texts = profile.results == "text"
            self._says_texts = profile.replies == "text"
            self._asked = CallPairing(ToolNames(tools, profile) if tools else None)

    def _called(self, called: Called) -> None:
        self._damages.over()
        match called.request:
            case ModelRequest() as request:
                self._model(called, request)
            case ToolRequest() as request:
                self._tool(called, request)
            case ApprovalRequest() as request:
                question = self._open[called.key] = Question(called, request)
                self.trace.questions.append(question)
                if (ask := self._asked.run(request, called.session)) is not None:
                    ask.questions.append(question)
            case OutboxRequest() as request:
                self._sending(called, request)
            case StoreRequest(access=access) as request:
                self._damages.called(called, request)
                if access == "write":
                    self._open[called.key] = called
            case InboxRequest(poll=poll, reader=reader):
                self._open[called.key] = called
                self._has_reader = reader if not poll else self._has_reader
                if not poll and not reader and self._delivered is not None:
                    self._settle(self._delivered, called.n, "next")

    def _model(self, called: Called, request: ModelRequest) -> None:
        kept = self._nodes.get(request.after, self._root).first(request.keep)
        unknown = Message("user")
        added = [(d, self.trace.messages.get(d, unknown)) for d in request.messages]
        node = self._nodes[called.key] = grow(kept, added)
        exchange = Exchange(called, request, node)
        self._open[called.key] = exchange
        self.trace.exchanges.append(exchange)
        self._turn(called).exchanges.append(exchange)
        self._asked.see_results(exchange, node.tail(kept))
        if self._sends_texts and called.purpose == "main":
            self._asked.see_texts(exchange)
        if called.purpose == "main":
            self._questions.see_request(called.session, called.turn, self.trace.settings)
        if request.took:
            self._take_in(self._turn(called), request.took)
        self._compactions.see_request(exchange)

    def _take_in(self, turn: Turn, names: Collection[str], before_n: int = _NEVER) -> None:
        """Let a turn take in messages that wait, or that a reply about a stop answers unread."""
        waiting = self._waiting.get(turn.session, [])
        names = {d.inbound.id for d in (*waiting, *turn.came) if d.n < before_n} & {*names}
        joined = [each for each in waiting if each.inbound.id in names]  # some are offered again
        self._waiting[turn.session] = [each for each in waiting if each not in joined]
        turn.joined += joined
        for each in joined:
            self._deliveries.setdefault((turn.session, each.inbound.id), []).append(turn)

    def _tool(self, called: Called, request: ToolRequest) -> None:
        ask = self._asked.run(request, called.session)
        execution = Execution(called, request, ask)
        if ask is not None and ask.execution is None:
            ask.execution = execution
        self._open[called.key] = execution
        self.trace.executions.append(execution)
        self._turn(called).executions.append(execution)

    def _sending(self, called: Called, request: OutboxRequest) -> None:
        sending = self._open[called.key] = Sending(called, request)
        self.trace.sendings.append(sending)
        turn = self._replied_turn(called, request)
        turn.sendings.append(sending)
        if request.status == "cancelled":
            self._take_in(turn, request.answers, turn.cancelled_n)
        if self._says_texts and request.kind == "final" and not request.status:
            sending.asked = turn.exchanges
        self._questions.see_sending(turn, sending)
        if request.kind in ("error", "notice") and turn.unstored:
            turn.store_failed = True
        if request.kind == "compaction":
            self._compactions.see_notice(sending)

    def _replied_turn(self, called: Called, request: OutboxRequest) -> Turn:
        """After a restart, or beside a reader, it is the turn whose message is answered."""
        turn = self._turn(called)
        if turn.delivery and turn.delivery.inbound.id in (request.in_reply_to, *request.also):
            return turn
        given = self._deliveries.get((turn.session, request.in_reply_to), [turn])
        asked = next((each for each in given if each.main), given[0])  # a kill may take one back
        return asked if self._has_reader or self.trace.starts[1:] else turn

    def _answered(self, answered: Answered) -> None:
        self.trace.answers.append(answered)
        self._damages.answered(answered)
        call = self._open.pop(answered.key, None)
        if isinstance(call, (Exchange, Execution, Question, Sending)):
            call.answered = answered
            if answered.error.startswith("limit."):
                self._turn(call.called).limits.append(answered)
        if isinstance(call, Called) and isinstance(call.request, StoreRequest):
            self._wrote(call, call.request, answered)
        if isinstance(call, Exchange) and answered.blocks:
            self._asks(call, answered)
        elif answered.seam == "inbox" and answered.value:
            self._deliver(answered, call if isinstance(call, Called) else None)

    def _wrote(self, call: Called, request: StoreRequest, answered: Answered) -> None:
        """Keep a refused write until the same one succeeds."""
        unstored = self._turn(call).unstored
        if answered.outcome == "ok":
            unstored.pop(request, None)
        else:
            unstored[request] = answered.n

    def _asks(self, exchange: Exchange, answered: Answered) -> None:
        exchange.reply = self.trace.messages.get(answered.blocks)
        asks = self._asked.see_answer(exchange)
        self.trace.asks += asks
        if exchange.purpose == "main":
            self._turn(exchange.called).asks += asks

    def _deliver(self, answered: Answered, called: Called | None) -> None:
        inbound = msgspec.convert(answered.value, type=Inbound)
        request = called.request if called is not None else None
        if called is not None and called.session == answered.session:
            # Beside a reader the turn of a message that waits may have begun, without a call.
            self._begin_waiting(answered.session, called.turn, answered)
        name = (answered.session, inbound.id)
        is_repeated = name in self._given
        if inbound.kind == "message" and not is_repeated:  # after a kill it comes a second time
            waiting = self._waiting.get(answered.session, [])
            waiting[:] = [each for each in waiting if each.inbound.id != inbound.id]
        turn = self._turn(answered)
        if inbound.kind != "message":
            wanted = isinstance(request, InboxRequest) and (request.poll or request.cancels)
            if wanted or not turn.settled_n:  # else the cancel is skipped: the turn had ended
                pushed = isinstance(request, InboxRequest) and request.pushed
                turn.cancel_came_ms = turn.cancel_came_ms or inbound.at_ms or answered.at_ms
                self._cancel(turn, answered, pushed=pushed)
            return
        self.trace.received.setdefault(inbound.id, {})[turn.session] = inbound.text
        delivery = Delivery(inbound, answered.n)
        self._given.add(name)
        self._offered.setdefault(name, answered.n)
        self.trace.deliveries.append(delivery)
        waits = turn.delivery is not None or not turn.number
        if waits and isinstance(request, InboxRequest) and request.reader:
            if not is_repeated:
                self._let_wait(turn, delivery, answered)
            elif request.refused:
                self._offer_again(delivery)
        else:
            self._begin(turn, delivery)

    def _let_wait(self, turn: Turn, delivery: Delivery, answered: Answered) -> None:
        turn.came.append(delivery)
        self._waiting.setdefault(turn.session, []).append(delivery)
        is_ending = any(s.request.kind in ENDINGS for s in turn.sendings)
        if self.trace.profile.inbound_policy(turn.session) == "interrupt" and not is_ending:
            self._cancel(turn, answered, pushed=True)

    def _offer_again(self, delivery: Delivery) -> None:
        """A message that was not accepted counts from its newest offer: others may be unseen."""
        inbound = delivery.inbound
        turns = [turn for name, turn in self.trace.turns.items() if name[0] == inbound.session]
        for waiting in (self._waiting.get(inbound.session, []), *(turn.came for turn in turns)):
            waiting[:] = [delivery if w.inbound.id == inbound.id else w for w in waiting]

    @staticmethod
    def _cancel(turn: Turn, answered: Answered, *, pushed: bool) -> None:
        if pushed and not turn.cancelled_n:
            waited_ms = sum(step.ms for step in answered.steps if isinstance(step, Wait))
            turn.cancel_met_ms = answered.at_ms + waited_ms + REACTION_MS
        turn.cancelled_n = turn.cancelled_n or answered.n

    def _begin(self, turn: Turn, delivery: Delivery) -> None:
        """Begin the turn of a message."""
        before = self._deliveries.setdefault((turn.session, delivery.inbound.id), [])
        turn.redelivery = any(t is not turn and (t.endings or t.cancelled_n) for t in before)
        turn.came_in = before[-1] if before else None
        first = before[0] if before else turn
        turn.begun_n = first.opened_n if first is not turn and first.interrupted_n else 0
        offered_n = self._offered.get((turn.session, delivery.inbound.id), delivery.n)
        if self.trace.kills and not before and offered_n < delivery.n:
            turn.begun_n = offered_n  # the agent may have stored it before a kill took it back
        before.append(turn)
        turn.delivery = delivery
        self._delivered = turn

    def _turn(self, event: Called | Answered) -> Turn:
        name = (event.session, event.turn)
        if name not in self.trace.turns:
            opens = event.seam == "inbox" and not self._waiting.get(event.session)
            self._begin_waiting(event.session, event.turn - opens, event)
        if name not in self.trace.turns:
            if (before := self._newest.get(event.session)) is not None and self._has_reader:
                self._settle(before, event.n, "next")
            self._newest[event.session] = self.trace.turns[name] = Turn(*name, opened_n=event.n)
        return self.trace.turns[name]

    def _begin_waiting(self, session: str, last: int, event: AnyEvent) -> None:
        """Begin the turns, up to a number, of the messages that came during one that has ended."""
        waiting = self._waiting.get(session, [])
        while waiting and (before := self._newest[session]).number < last:
            self._settle(before, event.n, "next")
            turn = Turn(session, before.number + 1, opened_n=event.n)
            self.trace.turns[session, turn.number] = self._newest[session] = turn
            self._begin(turn, waiting.pop(0))
            turn.waiting = list(waiting)
            if waiting and self.trace.profile.inbound_policy(session) == "interrupt":
                # What waits came before this turn: the agent may end it for that, and need not.
                turn.cancelled_n, turn.cancel_met_ms = event.n, _NEVER

    def _interrupt(self, n: int) -> None:
        for turn in self.trace.turns.values():
            if not turn.settled_n and not turn.endings:
                turn.interrupted_n = turn.interrupted_n or n

    @staticmethod
    def _settle(turn: Turn, n: int, by: str) -> None:
        if not turn.settled_n:
            turn.settled_n, turn.settled_by = n, by


def offered_schemas(value: Json) -> dict[str, dict[str, Json]]:
    """The input schemas by name in a value that a request offers; of another value none."""
    tools = value if isinstance(value, (list, tuple)) else ()
    named = ((t.get("name"), t.get("input_schema")) for t in tools if isinstance(t, dict))
    return {n: s if isinstance(s, dict) else {} for n, s in named if isinstance(n, str)}
