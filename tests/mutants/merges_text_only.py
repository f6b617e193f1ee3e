"""Two user messages are merged when both are one text; an image keeps them apart."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="user/user remains where one side is multimodal (seed 150)",
    scenario="damaged-history/image-beside-text",
    killed_by="role_alternation.wire",
)


def merge_texts(rows: Sequence[Message]) -> list[Message]:
    """User messages of one text each are merged; all else stays as it is."""
    wire: list[Message] = []
    for row in rows:
        if wire and row.role == wire[-1].role == "user" and _is_text(row) and _is_text(wire[-1]):
            row = Message("user", (Text(f"{wire.pop().text}\n\n{row.text}"),))
        wire.append(row)
    return wire


def _is_text(message: Message) -> bool:
    return len(message.blocks) == 1 and isinstance(message.blocks[0], Text)


def agent(brief: Brief) -> None:
    """The reference agent that merges texts only."""
    build(brief, projection=merge_texts).run()
