"""After a kill the turn restarts with its message alone, without the calls that it made."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="The resumed history lacks finished results, and the tools run again (incidents 157)",
    scenario="continue-repeats-the-tools/killed-in-the-text+stream",
    killed_by="history_faithful.forgotten_effect",
)


class Bare(RowTranscript):
    """Takes an interrupted turn up with the words of its user, and nothing that came after."""

    def resume(self, inbound: Inbound) -> int:
        """Load the interrupted turn, and forget all but its message."""
        attempts = super().resume(inbound)
        said = [row for row in self._rows if row.message.text == inbound.text]
        self._rows = said[-1:]
        return attempts


def agent(brief: Brief) -> None:
    """The reference agent with amnesia after a kill."""
    build(brief, transcript=Bare).run()
