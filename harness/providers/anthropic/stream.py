"""A message as the events of a stream.

A tool call starts with the input `{}`; its joined pieces are the real input, one empty piece if it
has none. message_delta has the cumulative usage. Cuts fall between characters.
"""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.providers.shared.codec import arguments_to, encode
from harness.providers.shared.sse import pieces

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
    return _pieces(_INPUT, text) or [(_INPUT, "")]


def _pieces(name: bytes, text: str) -> list[_Delta]:
    return [(name, piece) for piece in pieces(text)]
