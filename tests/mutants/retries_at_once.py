"""The next attempt follows at once."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.own_schedule import build_scheduled

MUTANT = Mutant(
    breaks="model",
    statement="A retry loop without a wait keeps the provider down (fault K6)",
    scenario="overloaded/for-a-moment",
    killed_by="backoff.too_soon",
)


def agent(brief: Brief) -> None:
    """The reference agent that does not wait."""
    build_scheduled(brief, 0.0, 0.0)
