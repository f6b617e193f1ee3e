"""The breaker's error is sent by the inner handler, and by the outer one again."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A stale marker stays beside the final one (seeds 26, 30)",
    scenario="empty-inputs",
    killed_by="outbound_once.twice",
)


class TwoHandlers(Gateway):
    """Tells of a failure where it is noticed, and where the turn ends."""

    def settle(self, inbound: Inbound, transcript: object, outcome: Outcome) -> None:
        """Send a failure ahead."""
        if outcome.status == "failed":
            self.brief.send(outcome.text, "error", inbound.session, inbound.id, status="failed")
        super().settle(inbound, transcript, outcome)  # type: ignore[arg-type]


def agent(brief: Brief) -> None:
    """The reference agent with two handlers of one failure."""
    build(brief, gateway=TwoHandlers).run()
