"""Every answer without a call ends the turn: a pause of the model is told as its reply."""

from __future__ import annotations

import msgspec

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="loop",
    statement="`pause_turn` is told as a final answer (fault M25)",
    scenario="paused-in-the-middle",
    killed_by="truthful_outcome.unfinished",
)


class Impatient(SecondModel):
    """Knows calls, and takes all else for the end."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """A pause as an end."""
        is_paused = answer.stop == "pause_turn"
        return msgspec.structs.replace(answer, stop="end_turn") if is_paused else answer


def agent(brief: Brief) -> None:
    """The reference agent that takes a pause for an end."""
    build_with(Impatient, brief)
