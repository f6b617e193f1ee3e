"""Requests of this API as readings."""

from __future__ import annotations

from harness.core.transition.ports import Reading, Violation
from harness.core.values.messages import Message
from harness.providers.openai_chat.blocks import message_from
from harness.providers.openai_chat.fields import field_memory
from harness.providers.openai_chat.rules import TABLE, violation
from harness.providers.openai_chat.validator import ChatFold, RowState
from harness.providers.shared.fields import RequestFields
from harness.providers.shared.openai import type_name
from harness.providers.shared.reader import Malformed, MessageReader
from harness.providers.shared.request_memory import NewMessages


class OpenAIChatReader(MessageReader[RequestFields, RowState, Reading]):
    """Reads the requests of one session, in order."""

    kind = Reading
    _fold: ChatFold

    def __init__(self, dialect: str, window_tokens: int | None) -> None:
        fold = ChatFold(dialect)
        super().__init__(TABLE, fold, field_memory(fold.active), window_tokens)

    def _extend(self, found: NewMessages) -> tuple[Message, ...]:
        added = tuple(self._each(found, message_from))
        self._fold.extend(added)
        return added

    def _ending(self) -> tuple[Violation, ...]:
        return self._fold.finish()

    def _malformed(self, error: Malformed) -> Violation:
        if error.missing:
            return violation("C12", path=error.path)
        got = type_name(error.value)
        return violation("C11", path=error.path, wanted=error.wanted, got=got)

    def _unreadable(self, body: bytes, error: Exception) -> Violation:
        return violation("C10")
