"""One set of guards serves every session: what failed for one user is refused to the next."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, standard_guards
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Counters of one session count in another (seeds 14; 114 for turns)",
    scenario="identical-failures/two-sessions",
    killed_by="no_false_stop",
)


def agent(brief: Brief) -> None:
    """The reference agent that makes its guards once."""
    made: list[Guard] = []

    def shared(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
        made.extend(() if made else standard_guards(tools))
        return made

    build(brief, guards=shared).run()
