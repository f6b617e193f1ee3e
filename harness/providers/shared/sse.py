"""Server-sent events: text to events by the rules of the format, and parts of writing them.

Only LF, CRLF and CR end lines, because a JSON string may hold U+2028. A final cut event is given
out too, as in the official SDK; reading its data shows the cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from harness.core.values.messages import Json
from harness.providers.shared.json_fields import parse

_LINE_END = re.compile(r"\r\n|\n|\r")

PIECE_CHARACTERS = 64
INPUT_CHARACTERS = 6
"""The input of a call comes a token or two at a time, and most inputs are short: in longer pieces,
a client that keeps the last piece alone would read most calls right."""
PIECES_MAX = 2000
"""A longer text comes in longer pieces: clients spend their time on events, not on characters."""


class SseEvent(NamedTuple):
    """An event: its name, "" when it has none, and its data."""

    name: str
    data: str


def events(text: str) -> Iterator[SseEvent]:
    """The events of a stream, in order."""
    name, data = "", list[str]()
    for line in (*_LINE_END.split(text.removeprefix("\ufeff")), ""):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif not line:
            if name or data:
                yield SseEvent(name, "\n".join(data))
            name, data = "", []


def is_stream(body: bytes, content_type: str) -> bool:
    """Whether a body is a stream of events, by its type or by how it begins."""
    head = body[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    return "event-stream" in content_type or head.startswith((b"data:", b"event:", b"id:", b":"))


def values(body: bytes) -> Iterator[dict[str, Json]]:
    """The objects of a recorded stream; other data, such as `[DONE]`, is skipped."""
    text = "\n".join(line.lstrip() for line in body.decode("utf-8", "replace").split("\n"))
    for event in events(text):
        value = parse(event.data.encode("utf-8", "surrogatepass")) if event.data else None
        if isinstance(value, dict):
            yield value


def pieces(text: str, characters: int = PIECE_CHARACTERS) -> list[str]:
    """A text in the pieces of a stream, cut between characters."""
    size = max(characters, -(-len(text) // PIECES_MAX))
    return [text[at : at + size] for at in range(0, len(text), size)]


def frame(name: str, **fields: Any) -> bytes:
    """A named event, whose data says the name again as its type."""
    data = msgspec.json.encode({"type": name, **fields})
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)
