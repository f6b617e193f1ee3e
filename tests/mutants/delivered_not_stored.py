"""The reply is delivered, and its row is never written."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="Replies are delivered and not stored: the spiral (seed 162)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.lost_reply",
)


class Unstored(Gateway):
    """Delivers first, and dies every time."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Deliver."""
        self.deliver(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that stores no reply."""
    build(brief, gateway=Unstored).run()
