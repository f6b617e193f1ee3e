"""Two paths deliver one reply: the stream's fallback and the ordinary one."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="The reply is sent twice on slow turns (incidents 133-136)",
    scenario="replay-spiral",
    killed_by="outbound_once",
)


class TwoPaths(Gateway):
    """Delivers by both paths."""

    def deliver(self, inbound: Inbound, outcome: Outcome) -> None:
        """Send, and send again."""
        self.send(inbound, outcome)
        super().deliver(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that delivers every reply twice."""
    build(brief, gateway=TwoPaths).run()
