"""Each step of a turn adds the user's message again."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="The function that asks the model also appends the message, so it stands there twice",
    scenario="one-of-many-fails@openai-chat",
    killed_by="inbound_exactly_once.doubled",
)


class AppendsAgain(Loop):
    """Adds the message that began the turn to each request after the first."""

    def messages(self) -> tuple[Message, ...]:
        """The messages, with the user's own at the end again."""
        messages = super().messages()
        own = [m for m in messages if m.role == "user" and not m.tool_results]
        return messages if messages[-1] in own else (*messages, own[-1])


def agent(brief: Brief) -> None:
    """The reference agent that adds the message again."""
    build(brief, turn=AppendsAgain).run()
