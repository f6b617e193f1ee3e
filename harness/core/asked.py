"""Which run, and which result, belongs to which call of the model.

A call is named by its id, and ids are not to be relied on: some providers give several calls the
same one, in one answer or in each, and then an agent must rename them on the wire. So a run goes to
the first call of its id that has not run, of the same input if there is one; and a result whose id
nobody knows goes to the call that stands at that place in the answer before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.calls import ToolRequest
from harness.core.exchanges import Ask, Exchange
from harness.core.messages import Message, canonical


class Asked:
    """The calls that the model has asked for, by id and by the answer they stand in."""

    def __init__(self) -> None:
        self._by_id: dict[str, list[Ask]] = {}
        self._last: dict[str, list[Ask]] = {}

    def see_answer(self, exchange: Exchange) -> list[Ask]:
        """The calls of an answer."""
        uses = exchange.reply.tool_uses if exchange.reply else ()
        asks = [Ask(exchange, use) for use in uses]
        for id in {use.id for use in uses}:
            self._by_id[id] = [ask for ask in asks if ask.use.id == id]
        if asks:
            self._last[exchange.called.session] = asks
        return asks

    def run(self, request: ToolRequest) -> Ask | None:
        """The call that a run of a tool carries out."""
        asks = self._by_id.get(request.id, [])
        waiting = [ask for ask in asks if ask.execution is None] or asks[-1:]
        if len(waiting) < 2:
            return waiting[0] if waiting else None
        same = (ask for ask in waiting if canonical(ask.use.input) == canonical(request.input))
        return next(same, waiting[0])

    def see_results(self, exchange: Exchange, messages: Sequence[Message]) -> None:
        """Note the first result that is sent for each call.

        The last answer can only be the newest message with calls: a list that is sent as a whole,
        as after a restart, has older ones with calls of the same names.
        """
        newest = next((message for message in reversed(messages) if message.tool_uses), None)
        renamed = self._renamed(exchange.called.session, newest) if newest else {}
        others = list(renamed.values())
        for message in messages:
            for result in message.tool_results:
                asks = [a for a in self._by_id.get(result.id, []) if a not in others]
                ask = renamed.get(result.id) or next((a for a in asks if a.sent is None), None)
                if ask is not None and ask.sent is None:
                    ask.sent, ask.sent_n = result, exchange.n
                    ask.sent_ms = exchange.called.at_ms

    def _renamed(self, session: str, message: Message) -> dict[str, Ask]:
        """The calls of the last answer under the new ids that a message gives them."""
        asks, uses = self._last.get(session, []), message.tool_uses
        if [ask.use.name for ask in asks] != [use.name for use in uses]:
            return {}
        pairs = zip(uses, asks, strict=True)
        return {use.id: ask for use, ask in pairs if use.id not in self._by_id}
