"""A message with one empty call counts as empty, even if its other calls succeed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.agent import build
from harness.agent.guards import EmptyInputGuard, EndTurn, Guard, Proceed, Refuse
from harness.agent.guards.guard_protocol import is_empty, needed_by
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="One empty call in a message hides the good one beside it (seeds 20)",
    scenario="empty-inputs/one-good-call-each",
    killed_by="expect.outcome",
)


class CountsMessages(EmptyInputGuard):
    """Counts messages with an empty call in a row; any message without one resets the count."""

    def __init__(self, needed: Callable[[str], Sequence[str]], limit: int = 3) -> None:
        super().__init__(needed, limit)
        self._needs, self._at_most = needed, limit
        self._in_a_row, self._is_counted = 0, True

    def begin_step(self) -> None:
        """A message begins; the one before had no empty call if it was not counted."""
        self._in_a_row = self._in_a_row if self._is_counted else 0
        self._is_counted = False
        super().begin_step()

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse an empty call, and end the turn with the message that is one too many."""
        if not is_empty(call.input) or not self._needs(call.name):
            return Proceed()
        self._in_a_row += not self._is_counted
        self._is_counted = True
        if self._in_a_row > self._at_most:
            return EndTurn("too many messages had a call without arguments.")
        return Refuse(f"{call.name} was not run: its arguments did not arrive.")


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (CountsMessages(needed_by(tools)),)


def agent(brief: Brief) -> None:
    """The reference agent that counts messages, not tools."""
    build(brief, guards=_guards).run()
