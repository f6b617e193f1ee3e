"""A message as the events of a stream.

Grammar: message_start, then for each block content_block_start, content_block_delta...,
content_block_stop, then message_delta with the stop reason and the cumulative usage, then
message_stop. A tool call starts with the input `{}`; its pieces, joined, are the real input, and a
call without arguments sends one empty piece. Pieces are cut between characters, never inside one.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.messages import Json
from harness.wires.anthropic.codec import encode

PIECE_CHARACTERS = 64
_FRAME = b'event: %b\ndata: {"type":"%b",%b}\n\n'
_DELTA = (
    b"event: content_block_delta\n"
    b'data: {"type":"content_block_delta","index":%d,"delta":{"type":"%b","%b":%b}}\n\n'
)
_STOP = b'event: content_block_stop\ndata: {"type":"content_block_stop","index":%d}\n\n'
_MESSAGE_STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


def events(message: dict[str, Json]) -> Iterator[bytes]:
    """The frames of a whole message, one for each event."""
    yield _start(message)
    for index, block in enumerate(message["content"]):
        yield from _block(index, block)
    yield _end(message)
    yield _MESSAGE_STOP


def _start(message: dict[str, Json]) -> bytes:
    begun = {
        **message,
        "content": [],
        "stop_reason": None,
        "usage": {**message["usage"], "output_tokens": 1},
    }
    begun.pop("stop_details", None)
    return _frame(b"message_start", b'"message":' + encode(begun))


def _end(message: dict[str, Json]) -> bytes:
    names = ("stop_reason", "stop_sequence", "stop_details")
    delta = {name: message[name] for name in names if name in message}
    usage = encode(message["usage"])
    return _frame(b"message_delta", b'"delta":%b,"usage":%b' % (encode(delta), usage))


def _block(index: int, block: dict[str, Json]) -> Iterator[bytes]:
    begun, deltas = _parts(block)
    yield _frame(b"content_block_start", b'"index":%d,"content_block":%b' % (index, encode(begun)))
    for kind, name, value in deltas:
        yield _DELTA % (index, kind, name, encode(value))
    yield _STOP % index


_Delta = tuple[bytes, bytes, Json]


def _parts(block: dict[str, Json]) -> tuple[dict[str, Json], Iterator[_Delta]]:
    """A block as it starts, and its deltas; a block without deltas is sent whole."""
    match block:
        case {"type": "text", "text": str(text)}:
            return _text(block, text)
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            return {**block, "thinking": "", "signature": ""}, _thinking(text, signature)
        case {"type": "tool_use", "input": value}:
            return {**block, "input": {}}, _input(value)
    return block, iter(())


def _text(block: dict[str, Json], text: str) -> tuple[dict[str, Json], Iterator[_Delta]]:
    begun = {**block, "text": ""}
    citations = block.get("citations")
    if isinstance(citations, list):
        begun["citations"] = []
        return begun, _cited(text, citations)
    return begun, _cited(text, [])


def _cited(text: str, citations: list[Json]) -> Iterator[_Delta]:
    for citation in citations:
        yield b"citations_delta", b"citation", citation
    for piece in _pieces(text):
        yield b"text_delta", b"text", piece


def _thinking(text: str, signature: str) -> Iterator[_Delta]:
    for piece in _pieces(text):
        yield b"thinking_delta", b"thinking", piece
    if signature:
        yield b"signature_delta", b"signature", signature


def _input(value: Json) -> Iterator[_Delta]:
    for piece in _pieces(encode(value).decode() if value != {} else "") or [""]:
        yield b"input_json_delta", b"partial_json", piece


def _pieces(text: str) -> list[str]:
    return [text[at : at + PIECE_CHARACTERS] for at in range(0, len(text), PIECE_CHARACTERS)]


def _frame(name: bytes, fields: bytes) -> bytes:
    return _FRAME % (name, name, fields)
