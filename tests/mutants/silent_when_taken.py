"""A message that another agent of the session has taken first is dropped silently."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="The second of two agents on a session does not say that it does nothing",
    scenario="message-taken-by-another",
    killed_by="outbound_once.taken",
)


class Silent(Gateway):
    """Takes every known message for one that it has answered itself."""

    def skip_known(self, inbound: Inbound) -> None:
        """Nothing."""


def agent(brief: Brief) -> None:
    """The reference agent that says nothing of a message that is another's."""
    build(brief, gateway=Silent).run()
