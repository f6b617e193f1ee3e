"""Answers read back: a body (JSON, or a whole stream) to what it says.

A recording may be cut, bent or no answer at all, so nothing here raises: what could not be read is
missing, and `complete` says so.
"""

from __future__ import annotations

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Json
from harness.providers import sse
from harness.providers.anthropic.assembly import Assembly
from harness.providers.anthropic.envelope import error_of, message_of, stop_of, usage_of
from harness.providers.codec import decode


def parse(body: bytes, content_type: str) -> Parsed:
    """An answer's body as values.

    The status of an error is the usual one of its type (0 for an unknown type); that of an error
    event is 200, for its stream had begun well.
    """
    text = body.decode("utf-8", "replace")
    if "event-stream" in content_type or text.startswith(("event:", "data:")):
        return _parse_stream(text)
    try:
        value = decode(text)
    except (ValueError, RecursionError):
        return Parsed(None, complete=False)
    return _parse_json(value)


def _parse_json(value: Json) -> Parsed:
    if not isinstance(value, dict):
        return Parsed(None)
    if value.get("error") is not None or value.get("type") == "error":
        return Parsed(None, error=error_of(value, None))
    if not isinstance(value.get("content"), list):
        return Parsed(None)
    content = [block for block in value["content"] if isinstance(block, dict)]
    return Parsed(message_of(value, content), stop_of(value), usage_of(value.get("usage")))


def _parse_stream(text: str) -> Parsed:
    assembly = Assembly()
    for event in sse.events(text):
        if event.name == "error":
            assembly.fail(event.data)
            break
        if event.name == "ping" or not event.data:
            continue
        try:
            value = decode(event.data)
        except (ValueError, RecursionError):
            break
        if isinstance(value, dict):
            assembly.take(value)
    return assembly.parsed()
