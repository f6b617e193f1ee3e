"""What is counted over a whole request: cache marks, images, signed summaries, messages.

Such a rule looks at no message alone, so the sums go along with the validator's state. Most
messages add nothing, and then the sums are the very same value as before.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Message, Opaque, ToolResult
from harness.providers.anthropic import images
from harness.providers.anthropic.compaction import is_summary, misplaced
from harness.providers.anthropic.notes import Notes
from harness.providers.anthropic.rules import violation

MESSAGES_MAX, MARKS_MAX = 100_000, 4


class Tally(msgspec.Struct, frozen=True):
    """The sums so far; `large` are images with a long edge, as (path, edge in pixels)."""

    marks: int = 0
    images: int = 0
    large: tuple[tuple[str, int], ...] = ()
    summaries: int = 0


NOTHING = Tally()


def tallied(
    before: Tally, index: int, message: Message, noted: Notes | None, *, first: bool
) -> tuple[Tally, list[Violation]]:
    """The sums with one more message, and what that message breaks by itself."""
    if noted is None and not _may_count(message):
        return before, []
    found = _noted(index, noted)
    sizes = [(path, data, images.edge(data)) for path, data in images.images(index, message)]
    found += [v for path, data, edge in sizes for v in _too_large(path, data, edge)]
    found += misplaced(index, message, before=not first, summaries=before.summaries)
    after = Tally(
        before.marks + (noted.marks if noted else 0),
        before.images + len(sizes),
        before.large + tuple((p, edge) for p, _, edge in sizes if edge > images.EDGE_MAX_OF_MANY),
        before.summaries + sum(map(is_summary, message.blocks)),
    )
    return after, found


def _may_count(message: Message) -> bool:
    kinds = set(map(type, message.blocks))
    if ToolResult in kinds and any(type(b.content) is tuple for b in message.tool_results):
        return True
    return Opaque in kinds


def _noted(index: int, noted: Notes | None) -> list[Violation]:
    if noted is None:
        return []
    hollow = [violation("V12", n=index, m=m) for m in noted.hollow]
    return hollow + [violation("V29", path=f"messages.{index}.{path}") for path in noted.extra]


def _too_large(path: str, data: str, edge: int) -> Iterator[Violation]:
    size = images.size_bytes(data)
    if size > images.BYTES_MAX:
        yield violation("V26", path=path, size=size)
    if edge > images.EDGE_MAX:
        yield violation("V27a", path=path)


def totals(tally: Tally, marks: int, count: int) -> Iterator[Violation]:
    """What the sums break in a request of `count` messages, with `marks` beside its messages."""
    if count > MESSAGES_MAX:
        yield violation("V3", most=MESSAGES_MAX, count=count)
    if tally.images > images.MANY:
        yield from (violation("V27", path=path) for path, _ in tally.large)
    if tally.marks + marks > MARKS_MAX:
        yield violation("V30", count=tally.marks + marks)
