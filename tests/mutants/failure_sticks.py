"""The failure of one turn is reported with the answers of the next ones."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A healthy model is on a cool-down long after the fault (incidents 182, 185)",
    scenario="stuck-for-good/key-refused+stream",
    killed_by="session_heals.unanswered",
)


class Resentful(Gateway):
    """Does not clear its error."""

    failed = False

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Answer with the worst status so far."""
        self.failed |= outcome.status == "failed"
        if self.failed:
            outcome = msgspec.structs.replace(outcome, status="failed", kind="error")
        super().settle(inbound, transcript, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that never forgives."""
    build(brief, gateway=Resentful).run()
