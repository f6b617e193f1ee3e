"""No guards at all: the model may repeat itself until the budget is gone."""

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
    statement="21 and more identical failing calls in 51 minutes (AutoGPT #12499)",
    scenario="identical-failures",
    killed_by="no_progress_stop.same_failure",
)


def _no_guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return ()


def agent(brief: Brief) -> None:
    """The reference agent without guards, and with a budget that lets it go on."""
    policy = Policy(max_model_calls=60)
    build(brief, guards=_no_guards, policy=policy).run()
