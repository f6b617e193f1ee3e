"""Errors are compared by their first 120 characters: a time in them makes each another."""

from __future__ import annotations

from harness.agent import build
from harness.agent.guards import RepeatGuard
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.halt import Halt

MUTANT = Mutant(
    breaks="guards",
    statement="A timestamp or id in the error defeats the breaker (seed 118, hermes #35937)",
    scenario="repeated-errors/with-a-time-in-it",
    killed_by="no_progress_stop.same_failure",
)


def _raw(tools: object) -> tuple[Halt, RepeatGuard]:
    return Halt(), RepeatGuard()


def agent(brief: Brief) -> None:
    """The reference agent without a fingerprint of errors."""
    build(brief, guards=_raw).run()
