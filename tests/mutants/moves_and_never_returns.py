"""The first provider is never asked again."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.fallback import FallbackAgent, Route
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="One overload, and another model answers for ever (hermes-agent#51573)",
    scenario="second-provider-in-mid-turn",
    killed_by="provider_change.stays",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Stays where it has moved to."""

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self.route = Left()


class Left(Route):
    """A route that leaves for good."""

    def failed(self) -> None:
        """Never ask the first provider again."""
        self.away_until = float("inf")


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
