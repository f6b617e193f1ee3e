"""What mutants of the reply share: a gateway that sends other words than the turn ended with."""

from __future__ import annotations

import msgspec

from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.calls import Inbound


class ChangedReplies(Gateway):
    """Sends each answer of the model as `changed` writes it; a mutant overrides that."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The text for the user."""
        return outcome.text

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the end of a turn; an error has the agent's own words and stays."""
        if outcome.kind == "final":
            told = self.changed(inbound, outcome)
            outcome = msgspec.structs.replace(outcome, told=told)
        return super().send(inbound, outcome)
