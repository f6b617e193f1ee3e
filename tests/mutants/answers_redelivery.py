"""An inbound message that comes again is answered again."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A redelivered update runs a second full turn (incidents 139-142)",
    scenario="replay-spiral/redelivered",
    killed_by="inbound_exactly_once",
)


class NoMemory(Gateway):
    """Takes a message that comes again for a new one."""

    def receive(self, inbound: Inbound) -> None:
        """Give a known message another id."""
        again = msgspec.structs.replace(inbound, id=f"{inbound.id}-again")
        known = any(row.inbound == inbound.id for row in self.store.rows(inbound.session))
        super().receive(again if known else inbound)


def agent(brief: Brief) -> None:
    """The reference agent without a memory of ids."""
    build(brief, gateway=NoMemory).run()
