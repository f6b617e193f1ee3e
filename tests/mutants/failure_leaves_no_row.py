"""A turn that fails tells the user, and stores nothing."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A bad ending leaves an unanswered user row (seed 148)",
    scenario="bad-endings",
    killed_by="turn_closed.question",
)


class Forgetting(Gateway):
    """Stores answers only."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store and deliver an answer; an error is only delivered."""
        if outcome.kind == "error":
            return self.deliver(inbound, outcome)
        return super().settle(inbound, transcript, outcome)


def agent(brief: Brief) -> None:
    """The reference agent whose failures leave no row."""
    build(brief, gateway=Forgetting).run()
