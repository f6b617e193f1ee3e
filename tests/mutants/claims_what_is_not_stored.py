"""A reply that could not be stored is sent all the same, as if it had been."""

from __future__ import annotations

from contextlib import suppress

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A full disk is ignored, and the user told that all is done (faults P9)",
    scenario="failing-store/full-at-the-reply",
    killed_by="reload_equivalence.lost_reply",
)


class CarelessGateway(Gateway):
    """Delivers whether it could store or not."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store the reply if that works, and deliver it."""
        with suppress(Exception):
            transcript.close(inbound, outcome)
        self.deliver(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that does not look at what the store says."""
    build(brief, gateway=CarelessGateway).run()
