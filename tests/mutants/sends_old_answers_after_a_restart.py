"""After a restart, the next message is first met with the answer of the turn before."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import side
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="Replies that the outbox took turns ago are sent again after a restart (unseen, A)",
    scenario="last-batch-after-a-crash",
    killed_by="turn_closed.reply",
)


class SendsAgain(Gateway):
    """Sends the newest stored answer at the first message after a start."""

    has_sent = False

    def receive(self, inbound: Inbound) -> None:
        """Send the newest answer of the session once, then work on the message."""
        rows = [] if self.has_sent else self.store.rows(inbound.session)
        said = [r.message.text for r in rows if side(r.message) == "assistant" and r.message.text]
        if said:
            self.brief.send(said[-1], "notice", inbound.session, inbound.id)
        self.has_sent = True
        super().receive(inbound)


def agent(brief: Brief) -> None:
    """The reference agent that does not know what it has delivered."""
    build(brief, gateway=SendsAgain).run()
