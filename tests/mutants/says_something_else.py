"""A template takes the place of the answer."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="The user reads something else than the model answered",
    scenario="reply-as-the-model-said-it",
    killed_by="reply_carried.replaced",
)


class Template(ChangedReplies):
    """Sends the text of a template whose field is missing."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The same words each time."""
        return "Your request was processed."


def agent(brief: Brief) -> None:
    """The reference agent that sends a template without the answer."""
    build(brief, gateway=Template).run()
