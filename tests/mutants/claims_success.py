"""A turn that failed is reported as an ordinary answer."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="Giving up ends as a benign answer (incidents 21, 178; opencode #48188)",
    scenario="prompt-too-long/all-attempts-fail",
    killed_by="truthful_outcome",
)


class AlwaysFine(Gateway):
    """Says `ok` after any outcome."""

    def send(self, inbound: Inbound, outcome: Outcome) -> None:
        """Report every end as a final answer."""
        self.brief.send(outcome.text, "final", inbound.session, inbound.id, status="ok")


def agent(brief: Brief) -> None:
    """The reference agent with a gateway that hides failures."""
    build(brief, gateway=AlwaysFine).run()
