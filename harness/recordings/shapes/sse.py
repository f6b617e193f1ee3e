"""Streams of JSON values: what the data lines of server-sent events say, in order."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.messages import Json
from harness.providers.shared.sse import events
from harness.recordings.shapes import fields as f


def is_stream(body: bytes, content_type: str) -> bool:
    """Whether a body is a stream of events, by its type or by how it begins."""
    head = body[:64].lstrip()
    return "event-stream" in content_type or head.startswith((b"data:", b"event:", b": "))


def values(body: bytes) -> Iterator[dict[str, Json]]:
    """The objects of a stream; what is none, such as `[DONE]`, is passed over."""
    text = "\n".join(line.lstrip() for line in body.decode("utf-8", "replace").split("\n"))
    for event in events(text):
        value = f.parse(event.data.encode("utf-8", "surrogatepass")) if event.data else None
        if isinstance(value, dict):
            yield value
