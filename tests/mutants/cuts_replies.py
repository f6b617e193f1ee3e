"""A channel takes short messages, and the rest of an answer is dropped."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="Only the beginning of a reply is delivered (gaia#1051; nerve#172; agent-afk#620)",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.cut",
)


class Cut(ChangedReplies):
    """Sends one message of a fixed length."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The first twelve characters."""
        return outcome.text[:12]


def agent(brief: Brief) -> None:
    """The reference agent whose channel drops the end of each reply."""
    build(brief, gateway=Cut).run()
