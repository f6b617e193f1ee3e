"""Each complete answer resets the budget of failures."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="Every success resets the budget of failures, so that a turn has none (fault S1)",
    scenario="budget-that-success-refills+stream",
    killed_by="retry_budget.turn",
)


def agent(brief: Brief) -> None:
    """The reference agent whose budget of one more try holds for one request only."""
    build(brief, policy=Policy(max_failures=1_000)).run()
