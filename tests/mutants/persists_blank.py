"""A message without text is refused, after it was stored."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A blank prompt is saved before it is refused (AutoGPT #12413, never changed)",
    scenario="overflow-lookalikes/blank",
    killed_by="reload_equivalence.blank",
)


class Storing(Gateway):
    """Stores first, and looks then."""

    def receive(self, inbound: Inbound) -> None:
        """Store any message."""
        if not inbound.text.strip():
            self.transcript_of(inbound.session).open(inbound)
        super().receive(inbound)


def agent(brief: Brief) -> None:
    """The reference agent that keeps blank messages."""
    build(brief, gateway=Storing).run()
