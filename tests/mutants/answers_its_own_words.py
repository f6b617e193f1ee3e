"""A channel brings the agent's own reply back, and the agent takes it for a message each time."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="The agent answers its own replies in a self-chat (kirodotdev/KiroCrew#5246)",
    scenario="own-words-come-back",
    killed_by="answer_taken.own_words",
)


class Talkative(Gateway):
    """Does not know its own words."""

    max_echoes = 1_000


def agent(brief: Brief) -> None:
    """The reference agent that answers itself."""
    build(brief, gateway=Talkative).run()
