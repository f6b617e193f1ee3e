"""The second provider is asked without the calls of the turn and their results."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.anthropic_rows import Row
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="Calls and results stay behind, so that the other model calls again",
    scenario="second-provider-in-mid-turn",
    killed_by="history_faithful.forgotten_result",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Carries words alone to the second provider."""

    def chat_request(self, request: Row) -> Row:
        """No calls, no results."""
        made = super().chat_request(request)
        made["messages"] = [
            message
            for message in made["messages"]
            if message["role"] != "tool" and not message.get("tool_calls")
        ]
        return made


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
