"""The compactions of a trace: which requests are parts of one, and what follows it.

An agent says that it compacts by the purpose of a call, or by a notice, or not at all. Then a
summary is known by where its words come again.
"""

from __future__ import annotations

from bisect import insort
from typing import Any

from harness.core.history.event_log import Named
from harness.core.history.events import Called
from harness.core.history.exchanges import Exchange, Sending
from harness.core.history.trace import Compaction, Trace, Turn
from harness.core.values.messages import without_blanks


class OpenCompactions:
    """The compactions under way, by session, and the main requests on both sides of them."""

    def __init__(self, trace: Trace, values: Named[Any]) -> None:
        self._trace, self._values = trace, values
        self._running: dict[str, Compaction] = {}
        self._last_main: dict[str, Exchange] = {}
        self._main_before: dict[str, Exchange] = {}

    def see_request(self, exchange: Exchange) -> None:
        """A request for a summary is a part of a compaction, and a main request ends one."""
        session = exchange.called.session
        if exchange.called.purpose == "compact":
            self._compact(exchange)
        if exchange.called.purpose != "main" or exchange.request.unread:
            return
        self._recognise_summary(exchange)
        if (compaction := self._running.pop(session, None)) is not None:
            compaction.after = exchange
        if (last := self._last_main.get(session)) is not None:
            self._main_before[session] = last
        self._last_main[session] = exchange

    def see_notice(self, sending: Sending) -> None:
        """The agent tells the user that it compacts: before, or once it has."""
        running = self._running.get(sending.called.session)
        if running is None or (running.notice is not None and not running.is_announced):
            running = self._new(sending.called)
        running.notice = sending

    def _compact(self, exchange: Exchange) -> None:
        running = self._running.get(exchange.called.session)
        if running is None or not _is_part(exchange, running):
            running = self._new(exchange.called)
        running.calls.append(exchange)

    def _recognise_summary(self, later: Exchange) -> None:
        """Take the last main request for a compaction if its answer was a summary.

        An agent need not say what a request is for. The proof is the next request: it does not go
        on from the last one, and holds that answer as words of the user or of the system. If it
        goes on from the request before, nothing was summarised: a title or a plan was asked for.
        """
        last = self._last_main.get(session := later.called.session)
        if last is None or self._trace.world == "recording":
            return
        system = str(self._values.get(later.request.system, ""))
        if not is_summary(last, later, (self._turn(last.called), self._turn(later.called)), system):
            return
        if (before := self._main_before.get(session)) is not None:
            self._last_main[session] = before
            if later.node.first(before.node.depth) is before.node:
                last.used_as = "aux"
                return
        last.used_as = "compact"
        made = Compaction(self._turn(last.called), calls=[last], before=before, after=later)
        if (told := self._running.get(session)) is not None and not told.calls:
            made.notice = told.notice  # it came before this proof
            self._trace.compactions.remove(self._running.pop(session))
        insort(self._trace.compactions, made, key=lambda compaction: compaction.n)

    def _new(self, called: Called) -> Compaction:
        made = Compaction(self._turn(called), before=self._last_main.get(called.session))
        self._trace.compactions.append(made)
        self._running[called.session] = made
        return made

    def _turn(self, called: Called) -> Turn:
        return self._trace.turns[called.session, called.turn]


def _is_part(exchange: Exchange, running: Compaction) -> bool:
    """Whether a request for a summary belongs to the compaction under way."""
    notice = running.notice  # until one that began has ended, calls are its parts
    if notice and (not running.calls or notice.request.status == "started"):
        return True
    return bool(running.calls) and goes_on(exchange, running.calls[-1], running.before)


SUMMARY_LEAST = 24
"""The least characters of a summary without white space: a shorter answer may come by chance."""


def is_summary(last: Exchange, later: Exchange, turns: tuple[Turn, Turn], system: str) -> bool:
    """Whether a later request does not go on from the last one, and holds its answer as words of
    the user or of the system."""
    if later.node.first(last.node.depth) is last.node or last.reply is None:
        return False
    said = without_blanks(last.reply.text)
    known = [t.text for t in turns] + [s.request.text for t in turns for s in t.sendings]
    if len(said) < SUMMARY_LEAST or last.reply.tool_uses or not last.succeeded:
        return False
    if any(said in without_blanks(text) for text in known):
        return False  # a reply, which the agent keeps as text, or an echo of one
    words = [system, *(node.message.text for node in later.added if node.side != "assistant")]
    return any(said in without_blanks(text) for text in words)


def goes_on(exchange: Exchange, last: Exchange, before: Exchange | None) -> bool:
    """Whether a request for a summary belongs to the one before it. After calls that the model made
    in place of a summary it holds that one and more."""
    at, asked = last.node, bool(last.reply and last.reply.tool_uses)
    is_answer = asked and exchange.node is not at and exchange.node.first(at.depth) is at
    return is_answer or exchange.goes_on_from(last, before)
