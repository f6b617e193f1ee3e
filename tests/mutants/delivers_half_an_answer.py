"""An answer that broke off is taken for one that ended."""

from __future__ import annotations

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import assistant
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A stream that ends without its end is a success (faults S1; litellm #6532)",
    scenario="answer-breaks-off/reset+stream",
    killed_by="stream_error_handled.passed_off",
)


class Content(SecondModel):
    """Is content with what came."""

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer, or as much of it as there is."""
        came: list[str] = []

        def note(text: str) -> None:
            came.append(text)
            if show is not None:
                show(text)

        try:
            return super().query(query, note)
        except ModelFailure as failure:
            if failure.kind != "broken_stream" or not came:
                raise
            return ModelAnswer(assistant("".join(came)), "end_turn")


def agent(brief: Brief) -> None:
    """The reference agent that does not wait for the end."""
    build_with(Content, brief)
