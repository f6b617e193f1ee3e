"""Code loses its indentation."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="White space of results is collapsed, and with it the indentation of code",
    scenario="what-the-tools-said",
    killed_by="result_carried.code",
)


def agent(brief: Brief) -> None:
    """The reference agent that collapses white space in each result."""
    play_with(brief, successes(lambda text: " ".join(text.split())))
