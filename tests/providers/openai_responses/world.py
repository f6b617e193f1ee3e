"""Requests and answers of this wire, for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Message
from harness.core.values.plans import ApiError, Recorded, Reply, Send
from harness.providers import by_name
from harness.providers.openai_responses.blocks import items_of
from harness.providers.openai_responses.request import ResponsesReader
from tests.providers.sends import joined

WIRE = by_name("openai-responses")
COMPACT: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}


def body(items: Any, layout: dict[str, Any] = COMPACT, **fields: Any) -> bytes:
    """A request of these items, in the order of fields of the official client."""
    return json.dumps({"input": items, "model": "m", **fields}, **layout).encode()


def body_of(messages: Sequence[Message], **fields: Any) -> bytes:
    """A request of these messages."""
    return body(items_of(messages), **fields)


def reader(dialect: str = "", window_tokens: int | None = None) -> ResponsesReader:
    """A reader of its own session."""
    return ResponsesReader(dialect, window_tokens)


def reading(stream: bool = False) -> Reading:
    """The reading of a plain request."""
    return reader().read(body("hi", stream=stream))


def written(value: Reply | ApiError | Recorded, stream: bool = False) -> tuple[Send, ...]:
    """The value as the wire writes it."""
    return WIRE.write(value, reading(stream), "main/model#1", Draws(7))


class Server:
    """A reader and its wire: what a session's server answers."""

    def __init__(self, dialect: str = "") -> None:
        self.reader, self._calls = reader(dialect), 0

    def ask(self, items: Any, reply: Reply | None = None, **fields: Any) -> tuple[Reading, Any]:
        """The reading of a request, and the response that answers it (None without a reply)."""
        self._calls += 1
        asked = self.reader.read(body(items, **fields))
        if reply is None:
            return asked, None
        sends = WIRE.write(reply, asked, f"main/model#{self._calls}", Draws(7))
        return asked, json.loads(joined(sends))
