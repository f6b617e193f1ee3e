"""The user's text is escaped for a page, and the model reads the escapes."""

from __future__ import annotations

from html import escape

from harness.agent import build
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.changed_messages import ChangedMessages

MUTANT = Mutant(
    breaks="gateway",
    statement="The user's words are changed before the model reads them",
    scenario="pasted-into-the-chat/a-line-of-json",
    killed_by="inbound_exactly_once.changed",
)


class Escaped(ChangedMessages):
    """Escapes markup at the wrong door."""

    def changed(self, text: str) -> str:
        """The text as a page would hold it."""
        return escape(text)


def agent(brief: Brief) -> None:
    """The reference agent that escapes what comes in."""
    build(brief, gateway=Escaped).run()
