"""The waits grow, but ignore the wait that the provider asked for."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.own_schedule import build_scheduled

MUTANT = Mutant(
    breaks="model",
    statement="No use is made of retry-after: lock-outs follow (incidents 113; cline #713)",
    scenario="overloaded/rate-limit",
    killed_by="backoff.before_retry_after",
)


def agent(brief: Brief) -> None:
    """The reference agent with its own schedule."""
    build_scheduled(brief, 1.0, 2.0, 4.0)
