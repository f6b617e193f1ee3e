"""The positional cursor without the early flush: inbound messages are lost, roles alternate."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from tests.mutants import Mutant
from tests.mutants.positional_cursor import CursorTranscript

MUTANT = Mutant(
    breaks="transcript",
    statement="Every inbound message is lost while roles alternate perfectly (seeds 132, 134)",
    scenario="replay-spiral/unanswered-tail",
    killed_by="inbound_exactly_once.lost",
)


class LateCursorTranscript(CursorTranscript):
    """Nothing is flushed before the turn is over."""

    def _admit(self, inbound: Inbound) -> bool:
        return True

    def _flushed(self, live: list[Message]) -> int:
        return 0


def agent(brief: Brief) -> None:
    """The reference agent with the positional cursor and no early flush."""
    build(brief, transcript=LateCursorTranscript).run()
