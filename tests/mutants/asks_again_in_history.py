"""Each attempt adds the question to the history again."""

from __future__ import annotations

from harness.agent import build
from harness.agent.context_overflow import Ask, Escalation
from harness.agent.conversation.history_size import begins_turn
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="overflow",
    statement="The history is not rolled back before the next attempt (AutoGPT #12413)",
    scenario="overflow-shapes",
    killed_by="inbound_exactly_once.doubled",
)


class Repeating(Escalation):
    """Builds the query of an attempt on what the last attempt left."""

    def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
        """Ask again, in writing."""
        question = [message for message in transcript.messages if begins_turn(message)][-1]
        shrunk = super().shrink(transcript, refusal, ask)
        transcript.append(question)
        return shrunk


def agent(brief: Brief) -> None:
    """The reference agent that repeats the question."""
    build(brief, overflow=Repeating).run()
