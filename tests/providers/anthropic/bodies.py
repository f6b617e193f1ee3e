"""Request bodies: of messages as the core has them, or as the wire writes them."""

from __future__ import annotations

import base64
from collections.abc import Callable

import msgspec

from harness.core.values.messages import Json, Message, ToolResult, ToolUse, user
from harness.providers.anthropic.blocks import message_to
from harness.providers.anthropic.request import AnthropicReader

Said = bytes | Callable[[AnthropicReader], bytes]
"""A request, or what makes one after the reader has read others."""

FIELDS = {"model": "m", "max_tokens": 10}
U, A = "user", "assistant"
END = [user("end")]
CALL = ToolUse("toolu_1", "read", {})
DONE = ToolResult("toolu_1", "ok")


def body(messages: list[Message], **fields: object) -> bytes:
    """A request of these messages."""
    wire = [message_to(message) for message in messages]
    return msgspec.json.encode({**FIELDS, "messages": wire, **fields})


def case(*messages: Message) -> bytes:
    """The request of a case."""
    return body(list(messages))


def blocks(*values: dict[str, Json], role: str = U) -> dict[str, Json]:
    """A message as the wire writes it."""
    return {"role": role, "content": list(values)}


def wire(*messages: dict[str, Json], **fields: Json) -> bytes:
    """A request of messages as the wire writes them."""
    return msgspec.json.encode({**FIELDS, "messages": list(messages), **fields})


MARK = {"cache_control": {"type": "ephemeral"}}


def png(width: int, height: int = 1, size: int = 0) -> dict[str, Json]:
    """An image that claims these edges; `size` fills its base64 up to a given number of bytes."""
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4)
    source = {"type": "base64", "media_type": "image/png"}
    text = base64.b64encode(data.ljust(size // 4 * 3, b"\0")).decode()
    return {"type": "image", "source": {**source, "data": text}}
