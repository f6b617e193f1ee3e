"""Each success reads OK."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="The model is given something else than its tools' output (mastra-ai/mastra#20402)",
    scenario="what-the-tools-said",
    killed_by="result_carried.replaced",
)


def agent(brief: Brief) -> None:
    """The reference agent that sees no result."""
    play_with(brief, successes(lambda text: "OK"))
