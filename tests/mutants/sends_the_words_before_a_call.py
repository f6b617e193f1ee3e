"""The first text of the turn is taken for the answer."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="The words beside a tool call are delivered in place of the answer",
    scenario="reply-as-the-model-said-it/beside-a-call",
    killed_by="reply_carried.before_call",
)


class FirstText(ChangedReplies):
    """Sends the first words that the model said in the turn."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The words beside the last call, where there are some."""
        messages = [row.message for row in self.store.load(inbound.session)]
        asking = [m for m in messages if m.tool_uses and m.text]
        return asking[-1].text if asking else outcome.text


def agent(brief: Brief) -> None:
    """The reference agent that sends the words before a call."""
    build(brief, gateway=FirstText).run()
