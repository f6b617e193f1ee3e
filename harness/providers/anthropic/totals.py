"""Counts over a whole request: cache marks, pictures, signed summaries, messages.

A message that adds nothing keeps the same value. Only base64 pictures directly in a message count;
one of unknown size breaks no limit, because test pictures are often made-up bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, Message, Opaque, ToolResult
from harness.core.values.pictures import base64_pixels
from harness.providers.anthropic.blocks import BlockNotes
from harness.providers.anthropic.compaction import is_summary, misplaced
from harness.providers.anthropic.record import RECORD, violation
from harness.providers.shared.unoffered import is_out_of_reach

assert RECORD.pictures is not None
LIMITS = RECORD.pictures
MESSAGES_MAX, MARKS_MAX = 100_000, 4


def images(index: int, message: Message) -> Iterator[tuple[str, str]]:
    """The images of a message that come with their bytes, as their paths and their base64 text."""
    for path, source in _sources(index, message):
        match source:
            case {"type": "base64", "data": str(data)}:
                yield path, data


def _sources(index: int, message: Message) -> Iterator[tuple[str, Json]]:
    """Where the images of a message come from, with the paths of the images."""
    for m, block in enumerate(message.blocks):
        path = f"messages.{index}.content.{m}"
        if isinstance(block, Opaque) and block.kind == "image":
            yield path, block.value.get("source")
        elif isinstance(block, ToolResult) and not isinstance(block.content, str):
            for k, part in enumerate(block.content):
                if isinstance(part, Opaque) and part.kind == "image":
                    yield f"{path}.tool_result.content.{k}", part.value.get("source")


def _address(source: Json) -> Iterator[Violation]:
    match source:
        case {"type": "url", "url": str(url)} if not url.lower().startswith("https:"):
            yield violation("V41")
        case {"type": "url", "url": str(url)} if is_out_of_reach(url):
            yield violation("V41a")


def edge(data: str) -> int:
    """The longer edge of a picture in pixels, 0 when it does not say."""
    return max(base64_pixels(data) or (0,))


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
    found += [v for _, source in _sources(index, message) for v in _address(source)]
    found += misplaced(index, message, before=not first, summaries=before.summaries)
    after = RequestTotals(
        before.marks + (noted.marks if noted else 0),
        before.images + len(sizes),
        before.large + tuple((p, edge) for p, _, edge in sizes if edge > LIMITS.edge_max_of_many),
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
    at = f"messages.{index}"
    lacking = [violation("V32", path=f"{at}.{path}") for path in noted.missing]
    wrong = [violation("V35", path=f"{at}.{path}", wanted="a valid string") for path in noted.wrong]
    return (
        hollow + lacking + wrong + [violation("V29", path=f"{at}.{path}") for path in noted.extra]
    )


def _too_large(path: str, data: str, edge: int) -> Iterator[Violation]:
    size = len(data)  # the API counts base64, a third more than the picture's own bytes
    if size > LIMITS.bytes_max:
        yield violation("V26", path=path, size=size)
    if edge > LIMITS.edge_max:
        yield violation("V27a", path=path)


def totals(tally: RequestTotals, marks: int, count: int) -> Iterator[Violation]:
    """What the sums break in a request of `count` messages, with `marks` beside its messages."""
    if count > MESSAGES_MAX:
        yield violation("V3", most=MESSAGES_MAX, count=count)
    if tally.images > LIMITS.many:
        yield from (violation("V27", path=path) for path, _ in tally.large)
    if tally.marks + marks > MARKS_MAX:
        yield violation("V30", count=tally.marks + marks)
