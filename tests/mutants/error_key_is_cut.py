"""Errors with one beginning are one error: a compiler's long command line comes before each."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.halt import Halt, instead

MUTANT = Mutant(
    breaks="guards",
    statement="Errors that differ after 120 characters are one key (seed 117, hermes #35937)",
    scenario="repeated-errors/one-beginning",
    killed_by="expect.outcome",
)


def agent(brief: Brief) -> None:
    """The reference agent that reads the beginning of an error."""
    build(brief, guards=instead(Halt)).run()
