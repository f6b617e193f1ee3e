"""A turn that was interrupted is taken up at every start."""

from __future__ import annotations

from harness.agent import build
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="A poisoned task is resumed after each start (NousResearch/hermes-agent#7536)",
    scenario="killed-again/whenever-it-is-worked-on",
    killed_by="resume_bounded.again",
)


def agent(brief: Brief) -> None:
    """The reference agent that does not count how often it has begun."""
    build(brief, policy=Policy(max_attempts=100)).run()
