"""Answers: a value to the bytes of a response, plain or streamed.

The official SDK reads the header `request-id`, which shares one draw with the message's id. Limits
are constant, so that a run repeats to the byte; only a 429 shows them used up.

In a stream a tool call starts with the input `{}`; its joined pieces are the real input, one empty
piece if it has none. message_delta has the cumulative usage. Cuts fall between characters.
"""

from __future__ import annotations

from functools import lru_cache

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, Text
from harness.core.values.plans import ApiError, Facts, Head, Recorded, Reply, Send
from harness.providers.anthropic.blocks import block_to
from harness.providers.anthropic.record import RECORD, own
from harness.providers.anthropic.request import AnthropicReading
from harness.providers.shared.codec import arguments_to, encode, tokens
from harness.providers.shared.sse import INPUT_CHARACTERS, pieces

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


_START = b'event: message_start\ndata: {"type":"message_start","message":%b}\n\n'
_BLOCK = (
    b"event: content_block_start\n"
    b'data: {"type":"content_block_start","index":%d,"content_block":%b}\n\n'
)
_DELTA = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":'
)
_DELTA_END = b"}}\n\n"
_STOP = b'event: content_block_stop\ndata: {"type":"content_block_stop","index":%d}\n\n'
_END = b'event: message_delta\ndata: {"type":"message_delta","delta":%b,"usage":%b}\n\n'
_MESSAGE_STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


def events(message: dict[str, Json]) -> list[bytes]:
    """The frames of a whole message, one for each event."""
    frames = [_START % encode(_begun(message))]
    for index, block in enumerate(message["content"]):
        begun, deltas = _parts(block)
        frames.append(_BLOCK % (index, encode(begun)))
        start = _DELTA % index
        for name, value in deltas:
            frames.append(b"".join((start, name, encode(value), _DELTA_END)))
        frames.append(_STOP % index)
    delta = {name: message[name] for name in _DELTA_NAMES if name in message}
    frames += [_END % (encode(delta), encode(message["usage"])), _MESSAGE_STOP]
    return frames


def _begun(message: dict[str, Json]) -> dict[str, Json]:
    usage = {**message["usage"], "output_tokens": 1}
    begun = {**message, "content": [], "stop_reason": None, "usage": usage}
    begun.pop("stop_details", None)
    return begun


_DELTA_NAMES = ("stop_reason", "stop_sequence", "stop_details")
_TEXT = b'"text_delta","text":'
_CITATION = b'"citations_delta","citation":'
_THINKING = b'"thinking_delta","thinking":'
_SIGNATURE = b'"signature_delta","signature":'
_INPUT = b'"input_json_delta","partial_json":'
_Delta = tuple[bytes, Json]
"""One of the beginnings above, and the value that follows it."""


def _parts(block: dict[str, Json]) -> tuple[dict[str, Json], list[_Delta]]:
    kind, text = block.get("type"), block.get("text")
    if kind == "text" and isinstance(text, str):
        return _text(block, text)
    match block:
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            return {**block, "thinking": "", "signature": ""}, _thinking(text, signature)
        case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use", "input": value}:
            return {**block, "input": {}}, _input(value)
    return block, []


def _text(block: dict[str, Json], text: str) -> tuple[dict[str, Json], list[_Delta]]:
    begun, deltas = {**block, "text": ""}, _pieces(_TEXT, text)
    citations = block.get("citations")
    if not isinstance(citations, list):
        return begun, deltas
    cited: list[_Delta] = [(_CITATION, citation) for citation in citations]
    return {**begun, "citations": []}, cited + deltas


def _thinking(text: str, signature: str) -> list[_Delta]:
    deltas = _pieces(_THINKING, text)
    return [*deltas, (_SIGNATURE, signature)] if signature else deltas


def _input(value: Json) -> list[_Delta]:
    text = "" if value == {} else arguments_to(value) or '""'
    # The SDK reads each part of an object, and raises ValueError for a part of another value.
    parts = pieces(text, INPUT_CHARACTERS) if isinstance(value, dict) else pieces(text)
    return [(_INPUT, part) for part in parts] or [(_INPUT, "")]


def _pieces(name: bytes, text: str) -> list[_Delta]:
    return [(name, piece) for piece in pieces(text)]
