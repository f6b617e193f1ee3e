"""A row that the store refuses is tried for a minute, and then dropped silently."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RetryingStore
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.loses_a_row import Forgiving

MUTANT = Mutant(
    breaks="transcript",
    statement="A store that fails longer than the agent tries loses the row (incidents 167, 168)",
    scenario="no-room-for-a-row/full-for-good",
    killed_by="no_silent_loss.lost",
)


def agent(brief: Brief) -> None:
    """The reference agent that goes on after nine tries."""
    store = RetryingStore(brief.store, brief.clock.sleep, (0.1, *range(1, 8)))
    build(brief, store=store, transcript=Forgiving).run()
