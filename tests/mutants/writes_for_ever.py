"""A write that fails is tried again until it succeeds, however long that takes."""

from __future__ import annotations

from typing import Any

from harness.agent import build
from harness.agent.sessions.transcript import RetryingStore
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="store",
    statement="A retry without a bound holds the turn as long as the disk is full (faults P9)",
    scenario="no-room-for-a-row/for-an-hour",
    killed_by="no_silent_loss.unbounded",
)

TIMES = 10_000


def agent(brief: Brief) -> None:
    """The reference agent that never gives a write up."""
    store: Any = RetryingStore(brief.store, brief.clock.sleep, (10.0,) * TIMES)
    build(brief, store=store).run()
