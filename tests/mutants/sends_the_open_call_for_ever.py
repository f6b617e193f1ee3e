"""One call without a result stands in the history, and every later request carries it."""

from __future__ import annotations

from tests.mutants import Mutant
from tests.mutants.no_projection import agent

__all__ = ["MUTANT", "agent"]

MUTANT = Mutant(
    breaks="projection",
    statement="Every later prompt was answered 400: a call had no result (claude-code #1831)",
    scenario="call-without-result",
    killed_by="session_heals.refused",
)
