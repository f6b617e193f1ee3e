"""A turn that failed ends the conversation: every later message is answered with the failure."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement='After "stuck in a loop" nothing works any more (OpenHands/OpenHands#5480)',
    scenario="stuck-for-good+stream",
    killed_by="session_heals.unasked",
)


class Stuck(Gateway):
    """Never forgets a failure."""

    stuck = False

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on a message, unless one has failed before."""
        if self.stuck:
            return self.settle(inbound, transcript, ends.failed("The agent is stuck."))
        return super().turn(inbound, transcript)

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Note a failure, and answer."""
        self.stuck |= outcome.status == "failed"
        super().settle(inbound, transcript, outcome)


def agent(brief: Brief) -> None:
    """The reference agent whose state outlives its turn."""
    build(brief, gateway=Stuck).run()
