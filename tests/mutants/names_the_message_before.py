"""The reply to a message names the message before it."""

from __future__ import annotations

from msgspec.structs import replace

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A reply stands under another message than the one that it answers (unseen, A)",
    scenario="life-after-the-limit",
    killed_by="outbound_once.misnamed",
)


class NamesTheLastOne(Gateway):
    """Keeps the id that replies name, and renews it too late."""

    named = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send under the id of the message before."""
        name, self.named = self.named or inbound.id, inbound.id
        return super().send(replace(inbound, id=name), outcome)


def agent(brief: Brief) -> None:
    """The reference agent that names messages one turn late."""
    build(brief, gateway=NamesTheLastOne).run()
