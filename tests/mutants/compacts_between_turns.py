"""The size of the conversation is looked at when a turn is over, and at no other time."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.context_overflow import Escalation, compact
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="overflow",
    statement="The window fills up inside a tool loop, and nothing looks there (incident 50)",
    scenario="checked-only-between-turns",
    killed_by="compaction_due.missed",
)


class Late(Gateway):
    """Makes the history shorter between turns."""

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message, and then look at the size."""
        loop = self.loop_for(inbound, transcript)
        outcome = loop.run()
        self.settle(inbound, transcript, outcome)
        if outcome.status == "failed":
            compacted = compact(transcript.messages, 1_000, loop.model.query)
            if compacted is not None:
                transcript.compact(compacted.summary, compacted.keep)


def agent(brief: Brief) -> None:
    """The reference agent that lets a turn run into the window."""
    build(brief, gateway=Late, overflow=partial(Escalation, stages=())).run()
