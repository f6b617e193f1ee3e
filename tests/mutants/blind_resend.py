"""A request that was refused for what it says is sent again as it is."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="A 400 is retried three times unchanged (incidents 49, 59, 100)",
    scenario="prompt-too-long/another-error",
    killed_by="no_blind_resend",
)


def agent(brief: Brief) -> None:
    """The reference agent that retries what cannot help."""
    build(brief, policy=Policy(retries={"permanent": 3})).run()
