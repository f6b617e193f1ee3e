"""The streamed text and the final are joined into one message."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="The user reads the answer twice in one message",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.doubled",
)


class Joined(ChangedReplies):
    """Joins the text that was shown and the final."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The answer, and the answer again."""
        return outcome.text + outcome.text


def agent(brief: Brief) -> None:
    """The reference agent that doubles each reply."""
    build(brief, gateway=Joined).run()
