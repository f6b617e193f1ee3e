"""A sub-agent is offered the tool that makes sub-agents, and so are its own."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="Sub-agents keep the spawn tool: 188 agents in a minute (claude-code #68110)",
    scenario="agents-of-agents",
    killed_by="bounded_spawn.depth",
)


def agent(brief: Brief) -> None:
    """The reference agent with sub-agents, as deep as they like."""
    build(brief, policy=Policy(max_depth=100), spawns=True).run()


def look_alike(brief: Brief) -> None:
    """The reference agent with sub-agents, as deep as it allows."""
    build(brief, spawns=True).run()
