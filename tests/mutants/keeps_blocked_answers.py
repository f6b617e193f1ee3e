"""A guardrail withholds an answer from the user, and leaves it in the conversation."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="An answer that a guardrail blocked stays in the session as said",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.blocked",
)

WITHHELD = "I may not talk about this."

FORBIDDEN = ("yeast", "<script>")
"""The word of the scenario, and markup that campaigns draw."""


class Guarded(Gateway):
    """Sends a fixed text in place of an answer with a forbidden word."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the end of a turn; the stored answer is not changed."""
        if any(word in outcome.text for word in FORBIDDEN):
            outcome = msgspec.structs.replace(outcome, status="refused", told=WITHHELD)
        return super().send(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent whose guardrail looks at replies alone."""
    build(brief, gateway=Guarded).run()
