"""The deadline of a turn is counted from the start of the process."""

from __future__ import annotations

from typing import Any

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="After four hours each message is refused before the model is asked (unseen, A)",
    scenario="each-turn-counts-by-itself",
    killed_by="no_false_stop.unasked",
)

HOURS_MS = 4 * 3_600_000


class OneDeadline(Gateway):
    """Has one deadline for all turns."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.begun_ms = self.brief.clock.now_ms()

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on a message while the deadline has not passed."""
        if self.brief.clock.now_ms() - self.begun_ms < HOURS_MS:
            return super().turn(inbound, transcript)
        late = ends.failed("The time for this turn is over.", "limit")
        return self.settle(inbound, transcript, late)


def agent(brief: Brief) -> None:
    """The reference agent with the deadline of its process."""
    build(brief, gateway=OneDeadline).run()
