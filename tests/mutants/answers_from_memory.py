"""Where the model says nothing, the text of the last answer is still in the buffer."""

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
    statement="After empty answers the user reads the answer before them (hermes-agent#92563)",
    scenario="reply-as-the-model-said-it/nothing-after-an-answer",
    killed_by="reply_carried.other",
)


class Remembering(Gateway):
    """Sends the last answer in place of an error."""

    _text = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the answer of the turn, or the one that it remembers."""
        if outcome.kind == "error" and self._text:
            outcome = msgspec.structs.replace(
                outcome, kind="final", status="completed", told=self._text
            )
        elif outcome.kind == "final":
            self._text = outcome.text
        return super().send(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that never empties its buffer."""
    build(brief, gateway=Remembering).run()
