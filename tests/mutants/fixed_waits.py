"""Every wait is as long as the first."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.own_schedule import build_scheduled

MUTANT = Mutant(
    breaks="model",
    statement="A fork retries every 5 s (incidents 113; fault K6)",
    scenario="overloaded",
    killed_by="backoff.flat",
)


def agent(brief: Brief) -> None:
    """The reference agent whose waits do not grow."""
    build_scheduled(brief, 5.0, 5.0, 5.0, 5.0)
