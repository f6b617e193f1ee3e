"""Answers: a value to the bytes of a response, plain or streamed.

The official SDK reads the header `request-id`, which shares one draw with the message's id. Limits
are constant, so that a run repeats to the byte; only a 429 shows them used up.
"""

from __future__ import annotations

from functools import lru_cache

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, Text
from harness.core.values.plans import ApiError, Facts, Head, Recorded, Reply, Send
from harness.providers.anthropic.blocks import block_to
from harness.providers.anthropic.errors import own
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.request import AnthropicReading
from harness.providers.anthropic.stream import events
from harness.providers.shared.codec import encode, tokens

JSON = "application/json"
EVENT_STREAM = "text/event-stream; charset=utf-8"

_LIMITS = {"requests": (4000, 3999), "tokens": (4_000_000, 3_999_000)}
RESET = "2026-01-01T00:00:00Z"


def _limits(*, used_up: bool) -> dict[str, str]:
    family: dict[str, str] = {}
    for name, (limit, remaining) in _LIMITS.items():
        prefix = f"{RECORD.headers.rate_limits}{name}"
        family[f"{prefix}-limit"] = str(limit)
        family[f"{prefix}-remaining"] = "0" if used_up else str(remaining)
        family[f"{prefix}-reset"] = RESET
    return family


LIMITS, USED_UP = _limits(used_up=False), _limits(used_up=True)
"""The rate limit headers of a usual answer, and those of a 429."""

_JSON_USUAL = {"content-type": JSON, **LIMITS}
_JSON_USED_UP = {"content-type": JSON, **USED_UP}
_STREAM_USUAL = {"content-type": EVENT_STREAM, "cache-control": "no-cache", **LIMITS}


def json_head(status: int, id_: str, more: dict[str, str] | None = None) -> Head:
    """The head of a JSON answer; `more` wins over what is usual."""
    usual = {**(_JSON_USED_UP if status == 429 else _JSON_USUAL), RECORD.headers.request_id: id_}
    return Head(status, usual | {k.lower(): v for k, v in more.items()} if more else usual)


def write(
    value: Reply | ApiError | Recorded, reading: Reading, key: str, draws: Draws
) -> tuple[Send, ...]:
    """A value as the bytes of the answer to the request `reading` of the call `key`."""
    if isinstance(value, Recorded):
        return (Send(value.body, Head(value.status, value.headers)),)
    name = draws.identifier("", key)
    id_ = f"req_{name}"
    if isinstance(value, ApiError):
        return _refused(value, id_)
    first, *others = _frames(value, reading, name)
    if not reading.stream:
        return (Send(first, json_head(200, id_)),)
    head = Head(200, {**_STREAM_USUAL, RECORD.headers.request_id: id_})
    return (Send(first, head), *map(Send, others))


def _frames(value: Reply, reading: Reading, name: str) -> list[bytes]:
    """A reply as events, or as one body."""
    plain = isinstance(reading, AnthropicReading) and reading.turn is None
    changed = reading.transformations() if isinstance(reading, AnthropicReading) else []
    if plain and not changed and (text := _kept_text(value)):
        before, after, others = _text_frames(
            text, value.stop, reading.model, reading.tokens, reading.stream
        )
        return [b"%b%b%b" % (before, name.encode(), after), *others]
    content = list(map(block_to, value.blocks))
    message = _message(value, content, reading.model, reading.tokens, f"msg_{name}")
    if changed:
        message["input_transformations"] = changed
    if isinstance(reading, AnthropicReading) and reading.turn is not None:
        reading.turn.keep(f"msg_{name}", content)
    message |= value.extra
    return events(message) if reading.stream else [encode(message)]


_KEPT_CHARACTERS = 2000
"""The longest text whose bytes are kept: a script says the same short text again and again."""


def _kept_text(value: Reply) -> str:
    """The text of a reply that says nothing else; "" for any other, and for a long one."""
    only = value.blocks[0] if len(value.blocks) == 1 else None
    if not isinstance(only, Text) or only.extra or value.usage or value.extra:
        return ""
    return only.text if len(only.text) <= _KEPT_CHARACTERS else ""


@lru_cache(maxsize=64)
def _text_frames(
    text: str, stop: str | None, model: str, size: int, stream: bool
) -> tuple[bytes, bytes, list[bytes]]:
    """The answer that says a text, which a script may say many times; the first frame is cut where
    the name of the message stands."""
    value, content = Reply((), stop), [block_to(Text(text))]
    message = _message(value, content, model, size, f"msg_{_CUT}")
    first, *others = events(message) if stream else [encode(message)]
    before, _, after = first.partition(_CUT.encode())
    return before, after, others


_CUT = "0" * 24


def write_facts(value: Facts | ApiError, key: str, draws: Draws) -> tuple[Send, ...]:
    """The answer to a question for facts (a count, a model) as bytes."""
    id_ = draws.identifier("req_", key)
    if isinstance(value, ApiError):
        return _refused(value, id_)
    return (Send(encode(value.body), json_head(200, id_)),)


def _refused(error: ApiError, id_: str) -> tuple[Send, ...]:
    error = own(error)
    head = json_head(error.status, id_, error.headers)
    return (Send(encode(error_envelope(error, id_)), head),)


def error_envelope(error: ApiError, id_: str) -> dict[str, Json]:
    """The body of an error."""
    said: dict[str, Json] = {"type": error.type, "message": error.message}
    if error.code:
        said["details"] = {"error_code": error.code}
    return {"type": "error", "error": said, "request_id": id_}


def _message(
    reply: Reply, content: list[dict[str, Json]], model: str, size: int, id_: str
) -> dict[str, Json]:
    message: dict[str, Json] = {
        "id": id_,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reply.stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": size,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": tokens(len(encode(content))),
            **reply.usage,
        },
    }
    if reply.stop == "refusal":
        message["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
    return message
