"""The second provider is asked without the user's newest message."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.anthropic_rows import Row
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="The newest message stays behind when a conversation moves",
    scenario="second-provider-in-mid-turn",
    killed_by="provider_change.message",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Writes the request from what was there before the turn."""

    def chat_request(self, request: Row) -> Row:
        """All but the last message of the user."""
        made = super().chat_request(request)
        users = [n for n, m in enumerate(made["messages"]) if m["role"] == "user"]
        made["messages"].pop(users[-1])
        return made


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
