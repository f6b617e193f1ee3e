"""A turn that was interrupted twice is set aside, and the user is not told."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import PARKED, Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A message that was given up is lost for its user (incidents 149, 150)",
    scenario="killed-again",
    killed_by="resume_bounded.parked",
)


class Discreet(Gateway):
    """Does not say what it has given up."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send what was worked on."""
        return outcome.text.startswith(PARKED) or super().send(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that parks in silence."""
    build(brief, gateway=Discreet).run()
