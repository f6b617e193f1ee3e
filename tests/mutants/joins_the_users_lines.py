"""The lines of a message become one line, and so do those of code and lists in it."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.changed_messages import ChangedMessages

MUTANT = Mutant(
    breaks="gateway",
    statement="White space that carries meaning is lost in the user's text",
    scenario="each-turn-counts-by-itself",
    killed_by="inbound_exactly_once.white_space",
)


class OneLine(ChangedMessages):
    """Joins lines by a blank."""

    def changed(self, text: str) -> str:
        """The words of a text on one line."""
        return " ".join(text.split())


def agent(brief: Brief) -> None:
    """The reference agent that takes messages as one line."""
    build(brief, gateway=OneLine).run()
