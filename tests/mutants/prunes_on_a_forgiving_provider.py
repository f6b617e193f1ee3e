"""A compaction splits a pair, and the provider takes it: nothing but a check says so."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant, splits_a_pair

MUTANT = Mutant(
    breaks="compaction",
    statement="A result without its call is kept for the next provider (incidents 3, 4)",
    scenario="overflow-in-a-tool-loop/on-a-forgiving-provider",
    killed_by="tool_pairing.orphan",
)


def agent(brief: Brief) -> None:
    """The agent that cuts anywhere, on a provider that accepts it."""
    splits_a_pair.agent(brief)
