"""A stop reason that ends the turn is believed, and the calls beside it are dropped."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import ModelAnswer
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="`stop` stands beside whole calls, and the announcement is the answer (unseen, A)",
    scenario="end-told-beside-a-call",
    killed_by="truthful_outcome.dropped",
)


class ByStopReason(Loop):
    """Ends the turn whenever the model says that it is over."""

    def query(self, tools_withdrawn: bool = False) -> ModelAnswer:
        """The answer, without its calls unless it stopped for them."""
        answer = super().query(tools_withdrawn)
        if answer.stop in ("tool_use", "tool_calls") or not answer.message.text.strip():
            return answer
        said = tuple(block for block in answer.message.blocks if isinstance(block, Text))
        return ModelAnswer(Message("assistant", said), answer.stop, answer.tokens)


def agent(brief: Brief) -> None:
    """The reference agent that looks at the stop reason alone."""
    build(brief, turn=ByStopReason).run()
