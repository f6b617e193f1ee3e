"""A trip keeps the last call and drops its result: the store holds a call without a result."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from harness.stores.session_store import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A partial turn is kept without the results of its calls (seeds 29)",
    scenario="empty-inputs",
    killed_by="role_alternation.store",
)


class KeepsTheCall(RowTranscript):
    """Writes results when the model has gone on from them."""

    def append(self, message: Message) -> None:
        """Put results off until the next answer."""
        if message.tool_results:
            self._rows.append(SessionRow("", message))
            return
        self._write_results()
        super().append(message)

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Keep the reply; results that still wait belong to an attempt that failed."""
        if outcome.status != "failed":
            self._write_results()
        super().close(inbound, outcome)

    def _write_results(self) -> None:
        last = self._rows[-1]
        if not last.id and last.message.tool_results:
            self._rows.pop()
            super().append(last.message)


def agent(brief: Brief) -> None:
    """The reference agent that stores results late."""
    build(brief, transcript=KeepsTheCall).run()
