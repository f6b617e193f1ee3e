"""All blocks of an answer are taken for its text."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Text, Thinking
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="What the model thought is delivered as the beginning of its answer",
    scenario="signature-lost",
    killed_by="reply_carried.thought",
)


class Thoughts(ChangedReplies):
    """Sends the text of each block."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The thoughts and the answer."""
        blocks = outcome.message.blocks
        return "".join(b.text for b in blocks if isinstance(b, Text | Thinking)) or outcome.text


def agent(brief: Brief) -> None:
    """The reference agent that sends the model's thoughts."""
    build(brief, gateway=Thoughts).run()
