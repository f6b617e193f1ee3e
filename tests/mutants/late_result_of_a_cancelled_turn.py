"""A cancelled turn's results are kept, and told with the next message as if the user said them."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A late result of a cancelled turn enters the next turn (unseen, A)",
    scenario="cancel/between-tools",
    killed_by="turn_closed.result",
)


class TellsLate(Gateway):
    """Puts the results of a cancelled turn before the next message of the session."""

    late: tuple[str, ...] = ()

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Keep the results of a turn that was cancelled."""
        if outcome.status == "cancelled":
            results = (r for m in transcript.messages for r in m.tool_results)
            self.late = tuple(result.text for result in results)
        super().settle(inbound, transcript, outcome)

    def receive(self, inbound: Inbound) -> None:
        """Work on a message, with what came late before it."""
        text = "\n".join([*self.late, inbound.text])
        self.late = ()
        super().receive(msgspec.structs.replace(inbound, text=text))


def agent(brief: Brief) -> None:
    """The reference agent that tells late results with the next message."""
    build(brief, gateway=TellsLate).run()
