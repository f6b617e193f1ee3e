"""Answers read back: a body (JSON, or a whole stream) to what it says.

A recording may be cut, bent or no answer at all, so nothing here raises: what could not be read is
missing, and `complete` says so. A response that failed is complete, for it ends with its own event;
an error event is no end of a response, and the stream that it stands in is not complete.
"""

from __future__ import annotations

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Block, Json, Message
from harness.core.values.plans import ApiError
from harness.providers import sse
from harness.providers.codec import decode
from harness.providers.openai_responses.assembly import Assembly
from harness.providers.openai_responses.errors import error_of
from harness.providers.openai_responses.items import Said, read
from harness.providers.openai_responses.response import FAILED, stop_of

_ENDED = ("completed", "incomplete", FAILED, "cancelled", None)


def parse(body: bytes, content_type: str) -> Parsed:
    """An answer's body as values.

    The status of an error is the usual one of its type (0 for an unknown one); that of a response
    that failed, and of an error event, is 200, for so it came.
    """
    if _is_stream(body, content_type):
        assembly = _assembled(body)
        response = assembly.response
        parsed = _parsed(response) if response is not None else Parsed(None, complete=False)
        return _ended(parsed, assembly.ended, assembly.error)
    value = _value(body)
    if value is _NOT_JSON:
        return Parsed(None, complete=False)
    if not isinstance(value, dict):
        return Parsed(None)
    if value.get("error") is not None and "output" not in value:
        return Parsed(None, error=error_of(value["error"]))
    return _parsed(value) if isinstance(value.get("output"), list) else Parsed(None)


def response_in(body: bytes, content_type: str) -> dict[str, Json]:
    """The response object that a body holds; empty when it holds none."""
    value = _assembled(body).response if _is_stream(body, content_type) else _value(body)
    return value if isinstance(value, dict) else {}


_NOT_JSON = object()


def _value(body: bytes) -> Json:
    try:
        return decode(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return _NOT_JSON


def _is_stream(body: bytes, content_type: str) -> bool:
    return "event-stream" in content_type or body.startswith((b"event:", b"data:"))


def _assembled(body: bytes) -> Assembly:
    assembly = Assembly()
    for event in sse.events(body.decode("utf-8", "replace")):
        if not event.data or event.data.startswith("[DONE]"):
            continue
        try:
            value = decode(event.data)
        except (ValueError, RecursionError):
            break
        if isinstance(value, dict):
            assembly.take(value, event.name)
    return assembly


def _parsed(response: dict[str, Json]) -> Parsed:
    """What a response object says."""
    blocks: list[Block] = []
    before: Said | None = None
    for item in response["output"]:
        said = read(item)
        if before is not None and before.is_message and said.is_message:
            said = read(item, after_message=True)
        blocks += said.blocks
        before = said
    usage, failure = response.get("usage"), response.get("error")
    return Parsed(
        Message("assistant", tuple(blocks)),
        stop_of(response, blocks),
        dict(usage) if isinstance(usage, dict) else {},
        response.get("status") in _ENDED,
        error_of(failure, 200) if failure is not None else None,
    )


def _ended(parsed: Parsed, ended: bool, error: ApiError | None) -> Parsed:
    """A streamed response, by whether its terminal event or an error came."""
    return Parsed(
        parsed.message,
        parsed.stop if ended else None,
        parsed.usage,
        ended and error is None,
        error or (parsed.error if ended else None),
    )
