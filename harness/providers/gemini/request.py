"""Requests of this API as readings.

A content of results alone is a separate side: what else the user says stands in the next one.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Reading, Violation
from harness.core.values.messages import Json, Message, ToolResult, ToolUse
from harness.core.values.plans import Reply
from harness.providers.gemini.blocks import (
    SIGNATURE,
    blocks_of,
    get,
    parts_in,
    recorded_messages,
    role_of,
    said_on,
)
from harness.providers.gemini.contents import SIGNER, broken
from harness.providers.gemini.fields import declared, field_memory, system_of
from harness.providers.gemini.record import TABLE, Broken, signs_calls, violation
from harness.providers.gemini.validator import ContentFold
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import encode, reason
from harness.providers.shared.reader import ListForm, Malformed, MessageReader, RequestFields
from harness.providers.shared.request_memory import NotAnObject
from harness.providers.shared.signatures import part


class GeminiReading(Reading, frozen=True, gc=False):
    """A reading that knows which models sign their calls."""

    def complete(self, reply: Reply) -> Reply:
        """The reply as the model gives it: its first call is signed, by models that do so."""
        place = next((n for n, b in enumerate(reply.blocks) if isinstance(b, ToolUse)), None)
        if place is None or not signs_calls(self.model):
            return reply
        call = reply.blocks[place]
        assert isinstance(call, ToolUse)
        if SIGNATURE in call.extra:
            return reply
        signature = SIGNER.seal(part([call.id, call.name, call.input]))
        signed = msgspec.structs.replace(call, extra={**call.extra, SIGNATURE: signature})
        blocks = (*reply.blocks[:place], signed, *reply.blocks[place + 1 :])
        return msgspec.structs.replace(reply, blocks=blocks)

    def signed(self, reply: Reply) -> Reply:
        """The same for a call that a fault has made: the API gives none without its signature."""
        return self.complete(reply)


def _content(value: Json) -> tuple[Message, tuple[Broken, ...]]:
    flaws = tuple(broken(value))
    role, blocks = role_of(value), blocks_of(f.objects(parts_in(value)))
    if role == "assistant":
        blocks = tuple(said_on(blocks))
    if role == "user" and blocks and all(isinstance(block, ToolResult) for block in blocks):
        role = "tool"
    return Message(role, blocks), flaws


def _malformed(error: Malformed) -> Violation:
    value = encode(error.value).decode()
    return violation("G15", path=error.path, wanted=error.wanted, value=value)


def _unreadable(body: bytes, error: Exception) -> Violation:
    if isinstance(error, NotAnObject):
        return violation("G17")
    return violation("G16", reason=reason(body))


_FORM = ListForm(
    _content, _malformed, _unreadable, field="contents", place="contents[{}]",
    listed="type.googleapis.com/google.ai.generativelanguage.Content", optional=True,
)  # fmt: skip


class GeminiReader(MessageReader[RequestFields, GeminiReading]):
    """Reads the requests of one session, in order."""

    def __init__(self, dialect: str, window_tokens: int | None = None) -> None:
        fold = ContentFold(dialect)
        super().__init__(
            _FORM, TABLE, fold, field_memory(fold.active), window_tokens, GeminiReading,
            fold.extend, lambda messages, keep, said: fold.finish(said.model),
        )  # fmt: skip


def recorded_request(value: dict[str, Json]) -> f.RecordedRequest | None:
    """A request of a recording; None when it has no contents."""
    if not isinstance(value.get("contents"), list):
        return None
    config = f.mapping(get(value, "generationConfig"))
    return f.RecordedRequest(
        messages=tuple(recorded_messages(f.objects(value["contents"]))),
        system=system_of(get(value, "systemInstruction")),
        tools=tuple(declared(value.get("tools"))),
        max_tokens=f.whole(get(config, "maxOutputTokens")),
    )
