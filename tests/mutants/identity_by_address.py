"""What is stored is known by its address in memory, and addresses are used again.

The addresses of a turn are free when it is over, and the next turn's messages get them; here by a
counter that restarts, where an allocator would do it now and then.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

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
    statement="A new row is taken for a stored one whose address it has (seed 142, hermes #56284)",
    scenario="bad-endings/truncated-call",
    killed_by="reload_equivalence.lost_reply",
)


class AddressTranscript(RowTranscript):
    """Skips a message whose address is among those that were stored."""

    def __init__(self, stored: set[int], *parts: Any) -> None:
        """Begin with the addresses that earlier turns have stored."""
        super().__init__(*parts)
        self._stored, self._addresses = stored, count()

    def append(self, message: Message) -> None:
        """Store a message, unless its address is known."""
        if self._is_new():
            super().append(message)
        else:
            self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the reply, unless its address is known."""
        if self._is_new():
            super().close(inbound, outcome)

    def _is_new(self) -> bool:
        address = next(self._addresses)
        is_new = address not in self._stored
        self._stored.add(address)
        return is_new


def agent(brief: Brief) -> None:
    """The reference agent that knows rows by their address."""
    build(brief, transcript=partial(AddressTranscript, set())).run()
