"""Messages that are there are worked on at the same time, step by step."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="Two turns at once mix their rows (seed 159, hermes #64934)",
    scenario="busy",
    killed_by="turn_serial",
)


class Interleaving(Gateway):
    """Takes in all there is, and gives every turn a step in turn."""

    def run(self) -> None:
        """Open all turns, then step them until each has ended."""
        turns: list[tuple[Inbound, SessionTranscript, Loop]] = []
        for inbound in self.brief.inbox():
            transcript = self.transcript_of(inbound.session)
            if transcript.open(inbound):
                turns.append((inbound, transcript, self.loop_for(inbound, transcript)))
        while turns:
            ended = [(turn, turn[2].step()) for turn in turns]
            turns = [turn for turn, outcome in ended if outcome is None]
            for (inbound, transcript, _), outcome in ended:
                if outcome is not None:
                    self.settle(inbound, transcript, outcome)


def agent(brief: Brief) -> None:
    """The reference agent with several turns at once."""
    build(brief, gateway=Interleaving).run()
