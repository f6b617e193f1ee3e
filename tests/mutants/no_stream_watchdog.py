"""A time-out of reads is the only watch over a stream, and pings keep resetting it."""

from __future__ import annotations

from typing import Any

from harness.agent import build
from harness.agent.models.anthropic_model import AnthropicModel
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="Sessions freeze for 25 to 109 minutes on a stream that only pings (pi #8331)",
    scenario="silent-provider+stream",
    killed_by="bounded_wait.answer",
)


def _as_it_is(stream: Any) -> Any:
    return stream


class Unwatched(AnthropicModel):
    """Believes that a connection that is open will say something."""

    watched = staticmethod(_as_it_is)


def agent(brief: Brief) -> None:
    """The reference agent without a watchdog."""
    build(brief, model=Unwatched(brief.anthropic(), stream=True)).run()
