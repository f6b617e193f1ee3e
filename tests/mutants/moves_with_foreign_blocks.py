"""The second provider gets the blocks of the first one as they are."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.anthropic_rows import Row
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="Blocks of one API are sent to another (qwen-code#3304)",
    scenario="second-provider-in-mid-turn",
    killed_by="valid_request.C16",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Changes the address, and not the form."""

    def chat_request(self, request: Row) -> Row:
        """The messages of the other API."""
        made = super().chat_request(request)
        return {**made, "messages": [made["messages"][0], *request["messages"]]}


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
