"""A long result is cut, and nothing says so."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="A result is cut at a bound without a word, so the model takes a part for the whole",
    scenario="what-the-tools-said/a-whole-page",
    killed_by="result_carried.part",
)


def agent(brief: Brief) -> None:
    """The reference agent that cuts each result at 400 characters."""
    play_with(brief, successes(lambda text: text[:400]))
