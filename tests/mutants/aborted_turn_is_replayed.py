"""A turn that was aborted leaves no reply in the history, so the next turn begins it again."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="The entries of an aborted turn are replayed in the next one (seeds 31, 32)",
    scenario="empty-inputs/next-message",
    killed_by="reload_equivalence.lost_reply",
)


class NoMarker(RowTranscript):
    """Keeps what succeeded."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Keep a reply unless the turn failed."""
        if outcome.status != "failed":
            super().close(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that forgets how a turn failed."""
    build(brief, transcript=NoMarker).run()
