"""A turn that is given up ends without an assistant row: the store ends with results."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="After unknown tools the turn ends without an assistant row (seed 115, hermes)",
    scenario="repeated-errors/no-such-tool",
    killed_by="reload_equivalence.lost_reply",
)


class NoLastWord(RowTranscript):
    """Stores the reply of a turn that went well."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Keep the reply, unless the turn failed."""
        if outcome.status == "ok":
            super().close(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that stores no reply of a failed turn."""
    build(brief, transcript=NoLastWord).run()
