"""The second model is asked in each turn with the tools that it refused before."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.anthropic_rows import Row
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="A fallback without tools refuses each message for them (Cinnamon/kotaemon#806)",
    scenario="second-provider-takes-no-tools",
    killed_by="no_blind_resend.same_content",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Learns nothing from a refusal."""

    def ask_second(self, request: Row) -> Row:
        """Ask, and forget why it was refused."""
        try:
            return super().ask_second(request)
        finally:
            self.second_takes_tools = True


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
