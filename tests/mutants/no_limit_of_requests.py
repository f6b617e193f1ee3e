"""The bound on the requests of a turn was lost: only a final answer of the model ends it."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="The break behind the maximum of iterations was lost (incidents 177, 181)",
    scenario="never-a-final-answer",
    killed_by="bounded_turn.requests",
)


def agent(brief: Brief) -> None:
    """The reference agent without a bound on its requests."""
    build(brief, policy=Policy(max_model_calls=10_000)).run()
