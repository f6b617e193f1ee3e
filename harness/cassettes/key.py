"""What determines an answer: the canonical key of a request.

The messages are named by their digests, so that the key of a long request follows from the last
one and what is new. The rest (model, system, tools, `max_tokens`, `stream` and every other setting
of the body) makes one more digest.

Host, query and headers are no part of the key: a live call comes to a door of ours, so its host
says nothing; `/v1/messages?beta=true` and `/v1/messages` are one; and of the headers
(`x-stainless-*`, `user-agent`, request ids) none changes what a model says. What is left out of the
body stands in the two tables here, and nowhere else: fields that name a user, a cache or a price,
and, in the text of the system alone, the dates and ids that an agent puts there anew each day.
"""

from __future__ import annotations

import re

import msgspec

from harness.cassettes.redact import mask_value
from harness.core.transition.ports import Reading
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.messages import Json, Message, Text, ToolSpec, digest, side

VOLATILE_FIELDS = frozenset(
    {
        "cache_control",
        "metadata",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "user",
    }
)
"""Fields of a body that do not count."""

VOLATILE_TEXTS: dict[str, str] = {
    "uuid": r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    "date": (
        r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    ),
}
"""What does not count in the text of the system, by name; there it reads `<name>`."""

_VOLATILE_TEXT = re.compile(
    "|".join(f"(?P<{name}>{shape})" for name, shape in VOLATILE_TEXTS.items())
)


class Head(msgspec.Struct, frozen=True):
    """A request without its messages, as values; its digest is the head's part of the key."""

    model: str
    system: Json = ""
    tools: list[Json] = []
    tools_offered: bool = False
    max_tokens: int | None = None
    stream: bool = False
    settings: dict[str, Json] = {}


def head_of_reading(reading: Reading) -> Head:
    """The head of a recorded request."""
    return Head(
        reading.model,
        reading.system,
        _plain(reading.tools),
        reading.tools_offered,
        reading.max_tokens,
        reading.stream,
        _lasting(reading.settings),
    )


def head_of_call(call: Call) -> Head:
    """The head of a live request."""
    request = call.request
    assert isinstance(request, ModelRequest), request
    return Head(
        request.model,
        call.system,
        _plain(call.tools),
        request.tools_offered,
        request.max_tokens,
        request.stream,
        _lasting(call.settings),
    )


def _lasting(settings: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in settings.items() if name not in VOLATILE_FIELDS}


def _plain(tools: tuple[ToolSpec, ...]) -> list[Json]:
    return [msgspec.to_builtins(tool) for tool in tools]


def masked_head(head: Head) -> Head:
    """The head as a recording would hold it."""
    return msgspec.convert(mask_value(msgspec.to_builtins(head)), type=Head)


def masked_message(message: Message) -> Message:
    """The message as a recording would hold it."""
    return msgspec.convert(mask_value(msgspec.to_builtins(message)), type=Message)


def name_head(head: Head) -> str:
    """The digest of a head, without what is volatile in its system text."""
    return digest(lasting_head(head))


def lasting_head(head: Head) -> Head:
    """The head without what is volatile in its system text."""
    if not isinstance(head.system, str):
        return head
    return msgspec.structs.replace(head, system=lasting_text(head.system))


def lasting_message(message: Message) -> Message:
    """A message of the system without what is volatile in its text."""
    return msgspec.structs.replace(
        message,
        blocks=tuple(
            msgspec.structs.replace(block, text=lasting_text(block.text))
            if isinstance(block, Text)
            else block
            for block in message.blocks
        ),
    )


def lasting_text(text: str) -> str:
    """A text with what is volatile replaced by its name."""
    return _VOLATILE_TEXT.sub(lambda found: f"<{found.lastgroup}>", text)


def name_message(message: Message) -> str:
    """The digest of a message, without what is volatile if it is the system's."""
    return digest(lasting_message(message) if side(message) == "system" else message)
