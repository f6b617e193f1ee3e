"""The queue of a busy session has one place: the last message wins."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="Messages that come in a burst are dropped (item: queued in order)",
    scenario="busy",
    killed_by="inbound_exactly_once.lost",
)


class OnePlace(Gateway):
    """Keeps the newest message that came meanwhile."""

    def run(self) -> None:
        """Take what there is, and answer the first and the last."""
        first, *meanwhile = self.brief.inbox()
        for inbound in (first, *meanwhile[-1:]):
            self.receive(inbound)


def agent(brief: Brief) -> None:
    """The reference agent with a queue of one."""
    build(brief, gateway=OnePlace).run()
