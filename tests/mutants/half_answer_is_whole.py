"""The stop reason of an answer that met the end of the window is not looked at."""

from __future__ import annotations

import msgspec

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="model",
    statement="Half an answer is delivered as a success (wire A5, shape c)",
    scenario="overflow-shapes/stop-reason",
    killed_by="truthful_outcome.truncated",
)


class Hasty(SecondModel):
    """Takes a stop for an end."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """What stopped has ended."""
        if answer.stop == "model_context_window_exceeded":
            return msgspec.structs.replace(answer, stop="end_turn")
        return answer


def agent(brief: Brief) -> None:
    """The reference agent that does not ask why an answer stopped."""
    build_with(Hasty, brief)
