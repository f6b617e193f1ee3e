"""A turn that moves runs its calls again."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.anthropic_rows import Row, calls_of
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="A move begins the turn again, with its effects (hermes-agent#117495)",
    scenario="second-provider-in-mid-turn",
    killed_by="effect_once.again",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Plays the turn again at the second provider, from its beginning."""

    def ask_second(self, request: Row) -> Row:
        """Run the calls of the turn again, and ask with their new results."""
        for message in request["messages"][self.first :]:
            for call in calls_of(message["content"]) if message["role"] == "assistant" else ():
                self.outcome({**call, "asked_id": call["id"]})
        return super().ask_second(request)


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
