"""The repair leaves a note of how often it was made, at the beginning."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.conversation.projection import project
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="Repair that differs each turn breaks the prefix (seed 161, hermes #82925)",
    scenario="damaged-history",
    killed_by="append_only_prefix.messages",
)


def _noted(rows: Sequence[Message]) -> list[Message]:
    first, *rest = project(rows)
    note = Text(f"[{len(rows)} stored messages, {len(rows) - len(rest) - 1} of them repaired]")
    return [Message(first.role, (*first.blocks, note)), *rest]


def agent(brief: Brief) -> None:
    """The reference agent whose requests begin differently in each turn."""
    build(brief, projection=_noted).run()
