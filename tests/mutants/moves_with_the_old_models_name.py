"""The second provider is asked for the first one's model."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.anthropic_rows import Row
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="The name of a model goes to a provider without it (hermes-agent#112121)",
    scenario="second-provider-lacks-the-model",
    killed_by="provider_change.model",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Changes the address, and not the model."""

    def chat_request(self, request: Row) -> Row:
        """The request of the other API, for the same model."""
        return {**super().chat_request(request), "model": request["model"]}


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
