"""The second provider is told the newest message alone."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.anthropic_rows import Row
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="A conversation begins anew at the other provider",
    scenario="second-provider-in-mid-turn/from-a-past",
    killed_by="provider_change.past",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Begins a new conversation with the second provider."""

    def chat_request(self, request: Row) -> Row:
        """The system text and the user's last words."""
        made = super().chat_request(request)
        first, *others = made["messages"]
        said = [message for message in others if message["role"] == "user"]
        made["messages"] = [first, said[-1]]
        return made


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
