"""The buffer of the reply is never emptied."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="Each reply begins with the replies of the turns before",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.stale",
)


class Buffered(ChangedReplies):
    """Sends all that it has ever sent."""

    _said = ""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The replies so far, and the answer."""
        self._said += f"{outcome.text}\n"
        return self._said


def agent(brief: Brief) -> None:
    """The reference agent with one buffer for all replies."""
    build(brief, gateway=Buffered).run()
