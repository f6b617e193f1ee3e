"""A parser of streams that waits for the end of an event in one form only."""

from __future__ import annotations

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A parser knows one line end, and tells of a failure (incident 184)",
    scenario="characters-over-chunks/crlf+stream",
    killed_by="answer_taken.unread",
)


class Deaf(SecondModel):
    """Finds no event in a stream with other line ends."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """No answer: the stream ended, and no event had come."""
        raise ModelFailure("broken_stream", "no event in the stream")


def agent(brief: Brief) -> None:
    """The reference agent whose client knows one line end."""
    build_with(Deaf, brief)
