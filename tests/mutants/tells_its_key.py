"""A failure is told with all that the client was made of, and so with its key."""

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
    statement="A user reads the key of the agent in the words of a failure",
    scenario="overloaded",
    killed_by="key_kept.reply",
)


class Detailed(Gateway):
    """Tells the settings of the client."""

    key = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the end of a turn; an error with its details."""
        if outcome.status == "failed":
            text = f"{outcome.text} (timeout=60, api_key={self.key!r})"
            outcome = msgspec.structs.replace(outcome, told=text)
        return super().send(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent whose errors have details."""
    Detailed.key = brief.api_key
    build(brief, gateway=Detailed).run()
