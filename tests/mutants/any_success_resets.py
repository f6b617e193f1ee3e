"""Any success clears the counts of failures: one harmless call a round hides the loop."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.halt import Halt, instead

MUTANT = Mutant(
    breaks="guards",
    statement="A harmless success per round hides the loop (seed 121, hermes #35937)",
    scenario="repeated-errors/behind-a-harmless-call",
    killed_by="no_progress_stop.cycle",
)


def agent(brief: Brief) -> None:
    """The reference agent with the halt on repeated errors alone."""
    build(brief, guards=instead(Halt)).run()
