"""The number of requests is bounded, and what they cost is not."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="A turn has no ceiling in tokens (claude-code #66950, codex #34477)",
    scenario="budget-of-a-message",
    killed_by="budget_ceiling.tokens",
)


def agent(brief: Brief) -> None:
    """The reference agent that never looks at the bill."""
    build(brief, policy=Policy(max_tokens=10**12)).run()
