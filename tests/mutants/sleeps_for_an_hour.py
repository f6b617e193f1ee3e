"""The SDK obeys any retry-after, and the agent sets no bound."""

from __future__ import annotations

from harness.agent import build
from harness.agent.composition import is_on
from harness.agent.models.anthropic_model import AnthropicModel
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="Stuck for days on a monthly limit (incidents 103; pi #4991)",
    scenario="overloaded/come-back-in-an-hour",
    killed_by="backoff.above_cap",
)


class Obedient(AnthropicModel):
    """Leaves the client as it is."""

    def __init__(self, brief: Brief) -> None:
        client = brief.anthropic()
        super().__init__(client, is_on(brief, "stream"))
        self._client = client


def agent(brief: Brief) -> None:
    """The reference agent that sleeps when it is told to."""
    build(brief, model=Obedient(brief)).run()
