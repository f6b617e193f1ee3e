"""A message without an empty call clears the count, so one harmless call between hides the loop."""

from __future__ import annotations

from harness.agent import build
from harness.agent.guards import Watch
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.breaker_counts_messages import _guards

MUTANT = Mutant(
    breaks="guards",
    statement="A call without parameters between empty calls clears the count (seeds 22, 25)",
    scenario="empty-inputs/between-harmless-calls",
    killed_by="expect.calls",
)


def agent(brief: Brief) -> None:
    """The reference agent that counts messages in a row, and refusals not at all."""
    build(brief, guards=_guards, watch=lambda guards: Watch(guards, refusals=1000)).run()
