"""A turn that the breaker ended is begun again, with counters at zero."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A trip is taken for an error that another attempt may cure (seeds 27)",
    scenario="identical-failures/asked-again",
    killed_by="no_progress_stop.same_failure",
)


class TriesAgain(Gateway):
    """Gives a turn that failed one more attempt."""

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on a message, twice if need be."""
        outcome = self.loop_for(inbound, transcript).run()
        if outcome.status == "failed":
            outcome = self.loop_for(inbound, transcript).run()
        self.settle(inbound, transcript, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that retries what was stopped."""
    build(brief, gateway=TriesAgain).run()
