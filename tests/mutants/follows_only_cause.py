"""The chain of an error is followed by `__cause__` where there is one, else by `__context__`."""

from __future__ import annotations

from harness.agent.models.failures import OVERFLOW_PHRASES, ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A context error behind `__context__` is missed (AutoGPT #12413)",
    scenario="overflow-shapes",
    killed_by="expect.outcome",
)


def follows_one(error: BaseException | None) -> bool:
    """Whether the phrase stands in the one chain that is followed."""
    while error is not None:
        if any(phrase in str(error).lower() for phrase in OVERFLOW_PHRASES):
            return True
        error = error.__cause__ or error.__context__
    return False


class Wrapping(SecondModel):
    """A client library that names the connection as the cause of any failure."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Raise it again and classify the raised error."""
        try:
            raise RuntimeError("the stream failed") from OSError("connection closed")
        except RuntimeError as error:
            found = follows_one(error)
            raise ModelFailure("overflow" if found else "permanent", str(error)) from error


def agent(brief: Brief) -> None:
    """The reference agent behind such a library."""
    build_with(Wrapping, brief)
