"""What the model asked a tool to do is reported as done, against the tool's result."""

from __future__ import annotations

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import assistant
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A write that failed is reported as done (NousResearch/hermes-agent#35151)",
    scenario="failure-looks-like-success/raises",
    killed_by="error_visible.claimed",
)


class Hopeful(SecondModel):
    """Speaks for the model after a call."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Say that the call has worked."""
        after_a_call = query.messages[-1].tool_results and not answer.message.tool_uses
        return ModelAnswer(assistant("Order 17 is paid."), answer.stop) if after_a_call else answer


def agent(brief: Brief) -> None:
    """The reference agent that believes in its plans."""
    build_with(Hopeful, brief)
