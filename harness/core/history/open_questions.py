"""Questions to the user about calls that stand open, and what the next turn does with the calls.

Many agents ask for an approval in a plain message, and take the next one as the answer. Only the
next turn shows that: it runs or refuses the calls before its first request. Until then the message
is taken for a question. An agent whose question has no mark says it by the status `waiting`.
"""

from __future__ import annotations

import re

import msgspec

from harness.core.history.exchanges import Ask, Sending
from harness.core.history.trace import Turn
from harness.core.values.calls import OutboundKind

_TELLING: tuple[OutboundKind, ...] = ("final", "error", "notice", "partial")

_MARK = re.compile("[?\uff1f\u061f\u037e]")
"""The mark of a question in most scripts."""


class _Question(msgspec.Struct):
    turn: Turn
    sending: Sending
    asks: list[Ask]


class OpenQuestions:
    """The last question of each session that no later request has decided."""

    def __init__(self) -> None:
        self._open: dict[str, _Question] = {}

    def see_sending(self, turn: Turn, sending: Sending) -> None:
        """Take words of the agent beside open calls for a question about them."""
        last, own = turn.main[-1] if turn.main else None, sending.request.text
        if last is None or sending.request.kind not in _TELLING or not _MARK.search(own):
            return
        asks = [a for a in turn.asks if a.exchange is last and not (a.execution or a.sent)]
        if asks and own.strip() not in (last.reply.text if last.reply else ""):
            self._leave(turn.session)
            self._open[turn.session] = _Question(turn, sending, asks)
            sending.is_question = True

    def see_request(self, session: str, turn: int) -> None:
        """Decide by the first request after a question whether its calls were waiting for it."""
        if question := self._open.pop(session, None):
            handled = all(ask.sent or ask.execution for ask in question.asks)
            question.sending.is_question = handled and turn == question.turn.number + 1

    def end(self) -> None:
        """Leave the questions that were never answered."""
        for session in tuple(self._open):
            self._leave(session)

    def _leave(self, session: str) -> None:
        if question := self._open.pop(session, None):
            question.sending.is_question = False
