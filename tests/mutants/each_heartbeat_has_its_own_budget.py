"""The budget restarts with each message, also with those that a timer sends."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="Heartbeats send the whole conversation, each on its own budget (incident 96)",
    scenario="thirty-heartbeats",
    killed_by="wake_budget.tokens",
)


def agent(brief: Brief) -> None:
    """The reference agent without a budget for what wakes itself."""
    build(brief, policy=Policy(max_woken_tokens=1_000_000_000)).run()
