"""The guards of a turn are kept for the next: a stop that is long over ends that one too."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.agent.guards import Guard, standard_guards
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="A stale halt flag ends the next turn (seed 123, hermes #35937)",
    scenario="circles/next-turn-is-fresh",
    killed_by="no_false_stop",
)


def agent(brief: Brief) -> None:
    """The reference agent with one set of guards for all turns."""
    guards = standard_guards(standard_tools(brief).specs)

    def kept(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
        return guards

    build(brief, guards=kept).run()
