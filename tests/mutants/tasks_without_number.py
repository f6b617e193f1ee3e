"""The depth of sub-agents is capped, and their number is not."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="Only the depth of sub-agents was capped, not how many there are (pi-subagents #239)",
    scenario="agents-of-agents/siblings",
    killed_by="bounded_spawn.total",
)


def agent(brief: Brief) -> None:
    """The reference agent with any number of sub-agents."""
    build(brief, policy=Policy(max_tasks=1000), spawns=True).run()
