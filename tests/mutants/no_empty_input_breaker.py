"""The guards look at results alone: a call without its arguments is run like any other."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Empty input is run although parameters are required (AutoGPT #12499, #12625)",
    scenario="empty-inputs",
    killed_by="args_complete.empty_input",
)


def _results_only(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (RepeatGuard(),)


def agent(brief: Brief) -> None:
    """The reference agent with the repeat guard alone."""
    build(brief, guards=_results_only).run()
