"""The size of an image that stands in a message as base64: its bytes, and its edges in pixels.

Edges are read from the head of the file, in the four formats that the API takes. What cannot be
read has no edges: a test's image is often a few made-up bytes, and that is none of our business.

MERGED: What is counted over a whole request: cache marks, images, signed summaries, messages.

Such a rule looks at no message alone, so the sums go along with the validator's state. Most
messages add nothing, and then the sums are the very same value as before.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, Message, Opaque, ToolResult
from harness.providers.anthropic.blocks import BlockNotes
from harness.providers.anthropic.compaction import is_summary, misplaced
from harness.providers.anthropic.rules import violation

BYTES_MAX = 5 * 1024 * 1024
EDGE_MAX, EDGE_MAX_OF_MANY, MANY = 8000, 2000, 20
"""The longest edge in a request of up to `MANY` images, and in one of more."""

_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def images(index: int, message: Message) -> Iterator[tuple[str, str]]:
    """The images of a message, as their paths and their base64 text."""
    for m, block in enumerate(message.blocks):
        path = f"messages.{index}.content.{m}"
        if isinstance(block, Opaque):
            yield from _image(path, block.value)
        elif isinstance(block, ToolResult) and not isinstance(block.content, str):
            for k, part in enumerate(block.content):
                if isinstance(part, Opaque):
                    yield from _image(f"{path}.tool_result.content.{k}", part.value)


def _image(path: str, value: dict[str, Json]) -> Iterator[tuple[str, str]]:
    match value:
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            yield path, data


def base64_bytes(data: str) -> int:
    """How many bytes a base64 text stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def edge(data: str) -> int:
    """The longer edge of an image in pixels, 0 when it cannot be read."""
    try:
        head = base64.b64decode(data[: 4 * (len(data) // 4)][:88_000], validate=True)
    except (binascii.Error, ValueError):
        return 0
    return max(_edges(head))


def _edges(head: bytes) -> tuple[int, ...]:
    def number(at: int, length: int, order: str = "big") -> int:
        return int.from_bytes(head[at : at + length], "big" if order == "big" else "little")

    if head.startswith(b"\x89PNG"):
        return number(16, 4), number(20, 4)
    if head.startswith(b"GIF8"):
        return number(6, 2, "little"), number(8, 2, "little")
    if head.startswith(b"RIFF") and head[12:16] == b"VP8X":
        return 1 + number(24, 3, "little"), 1 + number(27, 3, "little")
    if head.startswith(b"RIFF") and head[12:16] == b"VP8 ":
        return number(26, 2, "little") & 0x3FFF, number(28, 2, "little") & 0x3FFF
    if head.startswith(b"RIFF") and head[12:16] == b"VP8L":
        bits = number(21, 4, "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return _jpeg(head) if head.startswith(b"\xff\xd8") else (0,)


def _jpeg(head: bytes) -> tuple[int, ...]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        if head[at + 1] in _START_OF_FRAME:
            return int.from_bytes(head[at + 5 : at + 7]), int.from_bytes(head[at + 7 : at + 9])
        at += 2 + max(2, int.from_bytes(head[at + 2 : at + 4]))
    return (0,)


MESSAGES_MAX, MARKS_MAX = 100_000, 4


class RequestTotals(msgspec.Struct, frozen=True):
    """The sums so far; `large` are images with a long edge, as (path, edge in pixels)."""

    marks: int = 0
    images: int = 0
    large: tuple[tuple[str, int], ...] = ()
    summaries: int = 0


NO_TOTALS = RequestTotals()


def tallied(
    before: RequestTotals, index: int, message: Message, noted: BlockNotes | None, *, first: bool
) -> tuple[RequestTotals, list[Violation]]:
    """The sums with one more message, and what that message breaks by itself."""
    if noted is None and not _may_count(message):
        return before, []
    found = _noted(index, noted)
    sizes = [(path, data, edge(data)) for path, data in images(index, message)]
    found += [v for path, data, edge in sizes for v in _too_large(path, data, edge)]
    found += misplaced(index, message, before=not first, summaries=before.summaries)
    after = RequestTotals(
        before.marks + (noted.marks if noted else 0),
        before.images + len(sizes),
        before.large + tuple((p, edge) for p, _, edge in sizes if edge > EDGE_MAX_OF_MANY),
        before.summaries + sum(map(is_summary, message.blocks)),
    )
    return after, found


def _may_count(message: Message) -> bool:
    kinds = set(map(type, message.blocks))
    if ToolResult in kinds and any(type(b.content) is tuple for b in message.tool_results):
        return True
    return Opaque in kinds


def _noted(index: int, noted: BlockNotes | None) -> list[Violation]:
    if noted is None:
        return []
    hollow = [violation("V12", n=index, m=m) for m in noted.hollow]
    return hollow + [violation("V29", path=f"messages.{index}.{path}") for path in noted.extra]


def _too_large(path: str, data: str, edge: int) -> Iterator[Violation]:
    size = base64_bytes(data)
    if size > BYTES_MAX:
        yield violation("V26", path=path, size=size)
    if edge > EDGE_MAX:
        yield violation("V27a", path=path)


def totals(tally: RequestTotals, marks: int, count: int) -> Iterator[Violation]:
    """What the sums break in a request of `count` messages, with `marks` beside its messages."""
    if count > MESSAGES_MAX:
        yield violation("V3", most=MESSAGES_MAX, count=count)
    if tally.images > MANY:
        yield from (violation("V27", path=path) for path, _ in tally.large)
    if tally.marks + marks > MARKS_MAX:
        yield violation("V30", count=tally.marks + marks)
