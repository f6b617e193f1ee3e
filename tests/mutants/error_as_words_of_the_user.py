"""The text of an error is stored as a message of the user."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, user
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="The error of a turn is stored as words of the user (unseen, A)",
    scenario="one-turn-of-four-fails",
    killed_by="turn_closed.error",
)


class Quoting(Gateway):
    """Notes what went wrong in the only role that it stores."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store the reply of a turn, and its error behind it."""
        super().settle(inbound, transcript, outcome)
        if outcome.status == "failed":
            self.store.append(inbound.session, self.noted(outcome))

    def noted(self, outcome: Outcome) -> Message:
        """The row of a failure."""
        return user(outcome.text)


class Noting(Quoting):
    """Says that it is a note, and what became of the message."""

    def noted(self, outcome: Outcome) -> Message:
        """The row of a failure."""
        return user(f"(Note of the program: the message above has no answer. {outcome.text})")


def agent(brief: Brief) -> None:
    """The reference agent that stores errors as the user's words."""
    build(brief, gateway=Quoting).run()


def look_alike(brief: Brief) -> None:
    """One that stores them as a note."""
    build(brief, gateway=Noting).run()
