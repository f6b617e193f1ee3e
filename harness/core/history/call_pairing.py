"""Pairs the model's calls with the tool runs and the results that belong to them.

Some providers repeat a call id, in one session or in two, and the agent must rename it. A tool run
belongs to the first call with its id that has not run. One with the same input goes before, and one
with the input that the user gave it. A result with an unknown id belongs to the call at that place
in the previous answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from harness.core.history.exchanges import Ask, Exchange, Node, Question, Sending
from harness.core.history.trace import Turn
from harness.core.values.calls import ApprovalRequest, OutboundKind, ToolRequest
from harness.core.values.messages import Json, ToolResult, ToolUse, canonical
from harness.core.values.tool_names import ToolNames


class CallPairing:
    """The calls that the model requested, by id and by answer."""

    def __init__(self, names: ToolNames | None = None) -> None:
        self._names = names
        self._by_id: dict[str, dict[str, list[Ask]]] = {}
        self._last: dict[str, list[Ask]] = {}
        self._told: dict[tuple[str, str], set[str]] = {}

    def see_answer(self, exchange: Exchange) -> list[Ask]:
        """Add and return the calls of an answer."""
        uses = exchange.reply.tool_uses if exchange.reply else ()
        asks = [Ask(exchange, self._meant(use)) for use in uses]
        session = exchange.called.session
        for use in uses:
            if former := self._by_id.setdefault(use.id, {}).get(session):
                inputs = (canonical(ask.use.input) for ask in former)
                self._told.setdefault((session, use.id), set()).update(inputs)
            self._by_id[use.id][session] = []
        for ask in asks:
            self._by_id[ask.use.id][session].append(ask)
        if asks:
            self._last[session] = asks
        return asks

    def run(self, request: ToolRequest | ApprovalRequest, session: str = "") -> Ask | None:
        """Return the call that a tool run, or a question to the user, belongs to.

        An id that no answer has is the framework's own, or the item id of the same call. Then the
        tool's name selects among the session's last calls.
        """
        asks = self._of(request.id, session)
        if not asks:
            last = self._last.get(session, [])
            waiting = [a for a in last if a.execution is None and a.use.name == request.name]
        else:
            waiting = [ask for ask in asks if ask.execution is None] or asks[-1:]
        if len(waiting) < 2:
            return waiting[0] if waiting else None
        given = canonical(request.input)
        same = (ask for ask in waiting if canonical(ask.use.input) == given)
        edited = (ask for ask in waiting if any(_allows(q, given) for q in ask.questions))
        return next(same, None) or next(edited, waiting[0])

    def see_results(self, exchange: Exchange, added: Sequence[Node]) -> None:
        """Record the first result that is sent for each call.

        The last answer must be the newest message with calls. A list that is sent as a whole has
        older messages with calls of the same names.
        """
        newest = next((node for node in reversed(added) if node.calls), None)
        renamed = self._renamed(exchange.called.session, newest) if newest else {}
        others = set(map(id, renamed.values()))
        asked: dict[str, str] = {}
        for node in added:
            for use in node.calls:
                asked[use.id] = self._meant(use).name
            for result in node.results:
                # A log may give one id to each of a thousand calls: those with a result come first.
                # An older call of the list may have the id of one that the request leaves out.
                waits = (
                    a
                    for a in self._of(result.id, exchange.called.session)
                    if not a.sent
                    and id(a) not in others
                    and asked.get(result.id, a.use.name) in _names(a)
                    and not self._is_told_again(node, a)
                )
                ask = renamed.get(result.id) or next(waits, None)
                if ask is not None and ask.sent is None:
                    ask.sent, ask.sent_n = result, exchange.n
                    ask.sent_ms = exchange.called.at_ms

    def see_texts(self, exchange: Exchange) -> None:
        """Record the results that an agent sends as text, in the last user messages.

        The text holds the answer of a call that ran, else the agent's own words about it.
        """
        text = "\n".join(message.text for message in exchange.node.newest())
        for ask in self._last.get(exchange.called.session, ()) if text.strip() else ():
            ran, is_open = ask.execution, ask.sent is None
            is_open = is_open and ask.exchange.called.turn == exchange.called.turn
            own = ran is None or ran.failed or ran.comes_after(exchange.called.at_ms)
            if is_open and (own or (ran is not None and _begins_in(ran.text, text))):
                ask.sent, ask.sent_n = ToolResult(ask.use.id, text), exchange.n
                ask.sent_ms = exchange.called.at_ms

    def _is_told_again(self, node: Node, ask: Ask) -> bool:
        """Whether a result is that of a former call with the id of `ask`: the call before it is.

        On a wire of items the next words of the user join the message of old results, which is new
        by that. An agent that ends the turn because an id came again keeps no call of it.
        """
        session = ask.exchange.called.session
        told = self._told.get((session, ask.use.id))  # inputs: an id may come again at each turn
        if not told or canonical(ask.use.input) in told:
            return False
        uses = (use for each in node.back() for use in each.calls if use.id == ask.use.id)
        before = next(uses, None)
        return before is not None and canonical(before.input) in told

    def _of(self, id: str, session: str) -> list[Ask]:
        """The calls with an id: those of the session, which a model may give in another one too."""
        asks = self._by_id.get(id, {})
        return asks.get(session) or [ask for others in asks.values() for ask in others]

    def _meant(self, use: ToolUse) -> ToolUse:
        """A call with the scenario's name of its tool."""
        name = self._names.meant_by(use.name) if self._names else use.name
        return use if name == use.name else msgspec.structs.replace(use, name=name)

    def _renamed(self, session: str, newest: Node) -> dict[str, Ask]:
        # The Responses wire has calls without messages: one message may hold those of two answers.
        asks = self._last.get(session, [])
        uses = _newest_calls(newest, asks) if asks else ()
        if all(use.id in self._by_id for use in uses):
            return {}
        if asks[0].exchange.node.first(newest.depth) is newest:
            return {}  # the answer is younger: a restart lost it, and the stored past is sent whole
        # A model that makes a call twice under one id asks for it once.
        once = [*{(a.use.id, canonical(a.use.input)): a for a in reversed(asks)}.values()]
        asks = asks if len(uses) > len(once) else once[::-1]
        pairs = [*zip(uses, asks, strict=False)]
        if len(uses) != len(asks) or any(self._meant(u).name not in _names(a) for u, a in pairs):
            new = [self._meant(use) for use in uses if use.id not in self._by_id]
            return _of_one_input(new, asks)
        if len({ask.use.id for ask in asks}) < len(asks) and (alike := _of_equal_input(uses, asks)):
            return alike
        return {use.id: ask for use, ask in pairs if use.id not in self._by_id}


def _newest_calls(newest: Node, asks: Sequence[Ask]) -> tuple[ToolUse, ...]:
    """The calls of the newest message with calls. An agent may send those of an answer one by one,
    each with its result behind it: then those of all messages since the request."""
    asked = asks[0].exchange.node
    if newest.first(asked.depth) is not asked and asked.parent is not None:
        asked = asked.parent  # on a wire of items, new ones may join its last message
    is_split = len(newest.calls) < len(asks) and newest.first(asked.depth) is asked
    since = newest.tail(asked) if is_split else (newest,)
    return tuple(use for node in since for use in node.calls)[-len(asks) :]


def _names(ask: Ask) -> tuple[str, ...]:
    """The names under which a call stands in a request: its own, and that of the tool that ran.

    An agent that runs `read_file` for `functions.read_file` sends the name that its API takes.
    """
    return (ask.use.name, *([ask.execution.request.name] if ask.execution else []))


def _of_equal_input(uses: Sequence[ToolUse], asks: Sequence[Ask]) -> dict[str, Ask]:
    """The calls of one id by the ids that the agent gave them, which may have another order.

    Where a block begins twice, clients differ in which of both gets the input. Only inputs that
    differ tell such calls apart; else there is none.
    """
    of_input = {canonical(ask.use.input): ask for ask in asks}
    given = [canonical(use.input) for use in uses]
    if sorted(given) != sorted(of_input):
        return {}
    return {use.id: of_input[text] for use, text in zip(uses, given, strict=True)}


def _of_one_input(uses: Sequence[ToolUse], asks: Sequence[Ask]) -> dict[str, Ask]:
    """Some calls of an answer by the ids that the agent gave them: it may leave out others, as it
    does with one that it takes for a copy. The order is that of the answer."""
    left: dict[tuple[str, str], list[Ask]] = {}
    for ask in reversed(asks):
        left.setdefault((ask.use.name, canonical(ask.use.input)), []).append(ask)
    same = ((use, left.get((use.name, canonical(use.input)))) for use in uses)
    return {use.id: asked.pop() for use, asked in same if asked}


def _allows(question: Question, given: str) -> bool:
    """Whether the user allowed the call with this input, which need not be the model's."""
    said = question.approval
    return said is not None and said.answer == "allow" and canonical(said.input) == given


_BEGINNING = 20
"""The characters of an answer that a text keeps, even if the agent shortens it."""

_HALF = re.compile(r"\\ud[89a-f][0-9a-f]{2}|[\ud800-\udfff]", re.IGNORECASE)
"""Half of a surrogate pair, as a history writes it; no request can carry it."""


def _begins_in(answer: str, text: str) -> bool:
    whole = _HALF.split(answer)[0]
    return "".join(whole.split())[:_BEGINNING] in "".join(text.split())


_TELLING: tuple[OutboundKind, ...] = ("final", "error", "notice", "partial")

_MARK = re.compile("[?\uff1f\u061f\u037e]")
"""The mark of a question in most scripts. A question without one has the status `waiting`."""


class _Question(msgspec.Struct):
    turn: Turn
    sending: Sending
    asks: list[Ask]
    earlier: list[Sending]

    def find_answers(self) -> None:
        """Note which message of its own turn answered each question, if no call ran before."""
        asked = [*self.earlier, self.sending]
        came = [each.n for each in self.turn.came if each.n > asked[0].n]
        ran = [ask.execution.n for ask in self.asks if ask.execution]
        if not came or any(n < came[0] for n in ran):
            return
        for sending, until in zip(asked, [*(each.n for each in asked[1:]), math.inf], strict=True):
            sending.answer_n = next((n for n in came if sending.n < n < until), 0)


class OpenQuestions:
    """The last question about open calls of each session that no later request has decided.

    Many agents ask for an approval in a plain message, and take the next one as the answer. Only
    the next turn shows that: it runs or refuses the calls before its first request. Until then the
    message is taken for a question. A gateway with a reader waits in its turn, and the model never
    reads the answer (hermes, openclaw). That is asked of tools that need an approval alone, because
    else any notice with a question mark would excuse a lost message.
    """

    def __init__(self) -> None:
        self._open: dict[str, _Question] = {}

    def see_sending(self, turn: Turn, sending: Sending) -> None:
        """Take words of the agent beside open calls for a question about them; a status says what
        they are."""
        last, own = turn.main[-1] if turn.main else None, sending.request.text
        is_told = sending.request.kind in _TELLING and not sending.request.status
        if last is None or not is_told or not _MARK.search(own):
            return
        asks = [a for a in turn.asks if a.exchange is last and not (a.execution or a.sent)]
        if asks and own.strip() not in (last.reply.text if last.reply else ""):
            before, earlier = self._open.get(turn.session), []
            if before is not None and before.turn is turn:  # a batch is asked about call by call
                earlier, asks = [*before.earlier, before.sending], before.asks
            self._leave(turn.session)
            self._open[turn.session] = _Question(turn, sending, asks, earlier)
            sending.is_question = True

    def see_request(self, session: str, turn: int, settings: Mapping[str, Json]) -> None:
        """Decide by the first request after a question whether its calls were waiting for it."""
        if question := self._open.pop(session, None):
            sending, asks = question.sending, question.asks
            handled = all(ask.sent or ask.execution for ask in asks)
            if handled and any(ask.use.name in settings.get("gated", ()) for ask in asks):
                question.find_answers()
            is_next = turn == question.turn.number + 1
            sending.is_question = handled and (is_next or bool(sending.answer_n))

    def end(self) -> None:
        """Leave the questions that were never answered."""
        for session in tuple(self._open):
            self._leave(session)

    def _leave(self, session: str) -> None:
        if question := self._open.pop(session, None):
            question.sending.is_question = False
