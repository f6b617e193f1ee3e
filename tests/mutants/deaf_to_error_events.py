"""Any error event in a stream counts as a broken stream."""

from __future__ import annotations

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A context error inside a stream is retried as it is (AutoGPT #12625; wire A5)",
    scenario="overflow-shapes/error-event+stream",
    killed_by="request_fits.again",
)


class Deaf(SecondModel):
    """Does not read error events."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """A failure of a stream that began with 200 is a broken stream."""
        status = getattr(failure.__cause__, "status_code", None)
        raise ModelFailure("broken_stream", failure.text) if status == 200 else failure


def agent(brief: Brief) -> None:
    """The reference agent that takes every failure of a stream for noise."""
    build_with(Deaf, brief)
