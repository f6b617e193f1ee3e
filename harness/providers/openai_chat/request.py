"""Requests of this API as readings."""

from __future__ import annotations

from harness.core.transition.ports import Reading, Violation
from harness.core.values.messages import Json, Message
from harness.providers.openai_chat.blocks import message_from
from harness.providers.openai_chat.fields import field_memory
from harness.providers.openai_chat.framework_messages import recorded_messages
from harness.providers.openai_chat.record import TABLE, violation
from harness.providers.openai_chat.validator import ChatFold
from harness.providers.shared import json_fields as f
from harness.providers.shared.openai import type_name
from harness.providers.shared.reader import ListForm, Malformed, MessageReader, RequestFields

_FILTERED = "azure"
"""The dialect with a content filter."""


class OpenAIChatReading(Reading, frozen=True, gc=False):
    """A reading that knows whether a content filter sees the prompt and the answer."""

    is_filtered: bool = False


def _malformed(error: Malformed) -> Violation:
    if error.missing:
        return violation("C12", path=error.path)
    return violation("C11", path=error.path, wanted=error.wanted, got=type_name(error.value))


_FORM = ListForm(message_from, _malformed, lambda body, error: violation("C10"))


class OpenAIChatReader(MessageReader[RequestFields, OpenAIChatReading]):
    """Reads the requests of one session, in order."""

    def __init__(self, dialect: str, window_tokens: int | None = None) -> None:
        fold = ChatFold(dialect)

        def finish(
            messages: tuple[Message, ...], keep: int, said: RequestFields
        ) -> tuple[Violation, ...]:
            return fold.finish(messages[0] if messages else None, said.model)

        super().__init__(
            _FORM, TABLE, fold, field_memory(fold.active), window_tokens, OpenAIChatReading,
            fold.extend, finish, is_filtered=dialect == _FILTERED,
        )  # fmt: skip


def recorded_request(value: dict[str, Json]) -> f.RecordedRequest | None:
    """A request of a recording; None when it has no list of messages."""
    if not isinstance(value.get("messages"), list):
        return None
    declared = [f.mapping(t.get("function")) or t for t in f.objects(value.get("tools"))]
    limit = value.get("max_tokens") or value.get("max_completion_tokens")
    return f.RecordedRequest(
        messages=tuple(recorded_messages(f.objects(value["messages"]))),
        tools=tuple(f.tool(t) for t in (*declared, *f.objects(value.get("functions")))),
        model=f.text(value.get("model")),
        max_tokens=f.whole(limit),
        stream=value.get("stream") is True,
    )
