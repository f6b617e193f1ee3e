"""Each success reads undefined."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="A converter gives nothing, and the model reads undefined (mastra-ai/mastra#20402)",
    scenario="what-the-tools-said/a-small-value",
    killed_by="result_carried.lost",
)


def agent(brief: Brief) -> None:
    """The reference agent whose results are lost on the way."""
    play_with(brief, successes(lambda text: "undefined"))
