"""Rows of one side are joined, and every result in them is sent."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="A result that is stored twice is sent twice (seed 154)",
    scenario="damaged-history/duplicate-results",
    killed_by="valid_request",
)


def joined(rows: Sequence[Message]) -> list[Message]:
    """Neighbours of one side in one message; nothing is looked at."""
    wire: list[Message] = []
    for row in rows:
        if wire and wire[-1].role == row.role:
            row = Message(row.role, wire.pop().blocks + row.blocks)
        wire.append(row)
    return wire


def agent(brief: Brief) -> None:
    """The reference agent that pairs nothing."""
    build(brief, projection=joined).run()
