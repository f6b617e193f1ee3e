"""The first content block is taken for the answer."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Text
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="Only the first text block of an answer is delivered",
    scenario="reply-as-the-model-said-it/in-several-blocks",
    killed_by="reply_carried.blocks",
)


class FirstBlock(ChangedReplies):
    """Sends `content[0].text`."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The first text of the answer."""
        texts = [b.text for b in outcome.message.blocks if isinstance(b, Text)]
        return texts[0] if texts else outcome.text


def agent(brief: Brief) -> None:
    """The reference agent that sends the first block."""
    build(brief, gateway=FirstBlock).run()
