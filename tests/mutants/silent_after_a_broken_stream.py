"""An answer broke off, also when it is requested again, and the user gets no reply."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="An error in a stream reaches neither a retry nor the user (BerriAI/litellm#6532)",
    scenario="answer-breaks-off/never-whole+stream",
    killed_by="stream_error_handled.silent",
)


class Quiet(Gateway):
    """Says nothing of what broke off."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send what is good news."""
        return "answer_broke_off" in outcome.text or super().send(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that does not say so."""
    build(brief, gateway=Quiet).run()
