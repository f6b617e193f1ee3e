"""The provider says: come back tonight. The agent sleeps ten hours inside one call."""

from __future__ import annotations

from typing import Any

from harness.agent import build
from harness.agent.models.anthropic_model import AnthropicModel
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="The SDK obeys a retry-after counted in days, and the user hears nothing (pi #4991)",
    scenario="silent-provider/come-back-tonight+stream",
    killed_by="backoff.above_cap",
)


def _as_it_is(client: Any) -> Any:
    return client


class Obedient(AnthropicModel):
    """Leaves retry-after to the SDK."""

    bounded = staticmethod(_as_it_is)


def agent(brief: Brief) -> None:
    """The reference agent without a cap on retry-after."""
    build(brief, model=Obedient(brief.anthropic(), stream=True)).run()
