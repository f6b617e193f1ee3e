"""Bodies without keys: JSON stays JSON, a stream of events stays one.

JSON is masked value by value, so that a key spelt with escapes is seen. A model streams a key in
pieces: the deltas of one block are masked as the one text that they make. A body without keys
keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from harness.cassettes.redact import MASK, mask, mask_value
from harness.cassettes.shapes import Span, spans
from harness.core.values.messages import Json
from harness.providers.shared.codec import decode, encode

_Place: TypeAlias = tuple[dict[str, Json], str]
"""An object and the name under which it holds a piece of text."""

_INDICES = ("index", "output_index", "content_index")


def mask_body(body: bytes, content_type: str = "") -> bytes:
    """A body with every known shape of a key masked."""
    try:
        text, charset = body.decode(), "utf-8"
    except UnicodeDecodeError:
        text, charset = body.decode("latin-1"), "latin-1"
    is_stream = "event-stream" in content_type or text.startswith(("event:", "data:"))
    masked = _mask_stream(text) if is_stream else _mask_text(text)
    return body if masked == text else masked.encode(charset)


def _mask_text(text: str) -> str:
    """A text masked, as JSON if it is JSON."""
    try:
        value = decode(text)
        masked = mask_value(value)
        return text if masked == value else encode(masked).decode()
    except (ValueError, RecursionError):
        return mask(text)


def _mask_stream(text: str) -> str:
    lines = text.splitlines(keepends=True)
    events = {n: value for n, line in enumerate(lines) if (value := _data(line)) is not None}
    pieces: dict[object, list[_Place]] = {}
    for value in events.values():
        for group, place in _deltas(value, ()):
            pieces.setdefault(group, []).append(place)
    for group in pieces.values():
        _mask_pieces(group)
    return "".join(
        _line(line, events[n]) if n in events else mask(line) for n, line in enumerate(lines)
    )


def _data(line: str) -> Json:
    """The object that a line of a stream carries, None if it carries none."""
    if not line.startswith("data:"):
        return None
    try:
        value = decode(line.removeprefix("data:"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _line(line: str, value: Json) -> str:
    masked = mask_value(value)
    if masked == _data(line):
        return line
    end = line[len(line.rstrip("\r\n")) :]
    return f"data: {encode(masked).decode()}{end}"


def _deltas(value: Json, path: tuple[object, ...]) -> Iterator[tuple[object, _Place]]:
    """The pieces of text below `delta`, each with the text that it is a piece of."""
    if isinstance(value, list):
        for item in value:
            yield from _deltas(item, path)
    if not isinstance(value, dict):
        return
    path = (*path, *(value.get(name) for name in _INDICES))
    for name, part in value.items():
        below = (*path, name)
        if isinstance(part, str) and "delta" in below:
            yield below, (value, name)
        elif isinstance(part, (dict, list)):
            yield from _deltas(part, below)


def _mask_pieces(places: list[_Place]) -> None:
    """Mask the text that some pieces make together; the first piece of a key gets the mask."""
    while found := spans("".join(holder[name] for holder, name in places)):
        start = 0
        for holder, name in places:
            piece = holder[name]
            holder[name] = _cut(piece, start, found)
            start += len(piece)


def _cut(piece: str, start: int, found: list[Span]) -> str:
    """A piece that begins at `start` of the whole, without its part of the keys."""
    kept, at, end = "", start, start + len(piece)
    for first, last, _ in found:
        if last <= at or first >= end:
            continue
        kept += piece[at - start : max(first, at) - start]
        kept += MASK if first >= start else ""
        at = min(last, end)
    return kept + piece[at - start :]
