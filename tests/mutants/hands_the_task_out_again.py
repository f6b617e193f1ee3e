"""A task that comes back undone is handed out again, as it was, for as long as the turn lasts."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Two agents hand one task to each other (crewAIInc/crewAI#330, archestra #4462)",
    scenario="handed-back-each-time",
    killed_by="no_progress_stop.refusals",
)


def _no_guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return ()


def agent(brief: Brief) -> None:
    """The reference agent with sub-agents, and without guards."""
    build(brief, spawns=True, guards=_no_guards, policy=Policy(max_tasks=40)).run()


def look_alike(brief: Brief) -> None:
    """The reference agent with sub-agents."""
    build(brief, spawns=True).run()
