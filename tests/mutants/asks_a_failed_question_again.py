"""A message whose turn failed is put before the next one, so that the model answers both."""

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
    statement="A failed question stays and is answered in a later turn (unseen, A)",
    scenario="bad-endings",
    killed_by="turn_closed.question",
)


class AsksAgain(Gateway):
    """Keeps the message of a failed turn for the next one."""

    failed = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the end of a turn."""
        self.failed = inbound.text if outcome.kind == "error" else ""
        return super().send(inbound, outcome)

    def receive(self, inbound: Inbound) -> None:
        """Work on a message, and on the failed one before it."""
        text = "\n\n".join(filter(None, [self.failed, inbound.text]))
        super().receive(msgspec.structs.replace(inbound, text=text))


def agent(brief: Brief) -> None:
    """The reference agent that asks a failed question again."""
    build(brief, gateway=AsksAgain).run()
