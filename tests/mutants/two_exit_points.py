"""Two ways out of a turn flush the same row."""

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
    statement="Several exit points store the reply twice (seed 144)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.duplicate",
)


class TwoExits(Gateway):
    """Flushes where the turn ends, and where it is settled."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store the reply, then do all that belongs to the end of a turn."""
        transcript.close(inbound, outcome)
        super().settle(inbound, transcript, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that stores every reply twice."""
    build(brief, gateway=TwoExits).run()
