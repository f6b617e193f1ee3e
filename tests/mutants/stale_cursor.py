"""An agent that is kept between turns keeps its cursor as well."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.positional_cursor import CursorTranscript

MUTANT = Mutant(
    breaks="transcript",
    statement="The cursor of a cached agent skips the rows of the next turn (seed 146)",
    scenario="busy",
    killed_by="reload_equivalence.lost_reply",
)


class CachedTranscript(CursorTranscript):
    """Adds what it flushed in earlier turns to what is loaded."""

    def __init__(self, flushed: list[int], *parts: Any) -> None:
        """Begin with what earlier turns have flushed."""
        super().__init__(*parts)
        self._before = flushed

    def open(self, inbound: Inbound) -> bool:
        """Load, and put the old cursor on top."""
        admitted = super().open(inbound)
        self._cursor += sum(self._before[-1:])
        return admitted

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Write, and remember how much."""
        super().close(inbound, outcome)
        self._before.append(len(self._rows))


def agent(brief: Brief) -> None:
    """The reference agent with a stale cursor."""
    build(brief, transcript=partial(CachedTranscript, [])).run()
