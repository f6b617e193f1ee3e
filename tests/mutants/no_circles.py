"""Only equal calls one after the other are a loop: A, B, A, B is not."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, RepeatGuard, standard_guards
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="A breaker on consecutive calls never fires on A,B,A,B (seed 100, hermes #12632)",
    scenario="circles",
    killed_by="no_progress_stop.cycle",
)


def _consecutive(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (*standard_guards(tools)[:-1], RepeatGuard(period_max=1))


def agent(brief: Brief) -> None:
    """The reference agent that sees no circle."""
    build(brief, guards=_consecutive).run()
