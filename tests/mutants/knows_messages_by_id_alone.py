"""A message is known by its id, whichever chat it comes from."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="The second chat's message 1 is taken for a copy of the first chat's (unseen, A)",
    scenario="chats-that-count-alike",
    killed_by="inbound_exactly_once.lost",
)


class ByIdAlone(Gateway):
    """Leaves the session out of the key of a message."""

    def receive(self, inbound: Inbound) -> None:
        """Skip each id that came before."""
        if inbound.id not in {known for _, known in self.own_messages}:
            super().receive(inbound)


def agent(brief: Brief) -> None:
    """The reference agent that never answers the second chat's first message."""
    build(brief, gateway=ByIdAlone).run()
