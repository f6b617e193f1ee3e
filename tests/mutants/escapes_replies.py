"""The answer is escaped for a page, and the channel shows plain text."""

from __future__ import annotations

from html import escape

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="The user reads codes in place of signs, for no page shows the reply",
    scenario="reply-as-the-model-said-it/with-markup",
    killed_by="reply_carried.escaped",
)


class Escaped(ChangedReplies):
    """Escapes what goes out."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The answer as a page would hold it."""
        return escape(outcome.text)


def agent(brief: Brief) -> None:
    """The reference agent that escapes each reply."""
    build(brief, gateway=Escaped).run()
