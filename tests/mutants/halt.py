"""The halt on repeated errors as it was in hermes, for the mutants that differ in one point of it.

Not a mutant by itself: it has no MUTANT. It counts failures and ends the turn at the third.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from harness.agent.guards import EmptyInputGuard, EndTurn, Guard, Proceed
from harness.agent.guards.guard_protocol import needed_by
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse


class Halt:
    """Ends the turn with the third failure that has one key; any success clears every count."""

    def __init__(self, limit: int = 3) -> None:
        self.limit = limit
        self.counts: Counter[Hashable] = Counter()

    def begin_step(self) -> None:
        """A batch is nothing to it."""

    def before(self, call: ToolUse) -> Proceed:
        """Every call may run."""
        return Proceed()

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | EndTurn:
        """Count a failure."""
        if not self.failed(result):
            self.succeeded(call)
            return Proceed()
        key = self.key(call, result)
        self.counts[key] += 1
        if self.counts[key] < self.limit:
            return Proceed()
        return EndTurn(f"{call.name} failed {self.limit} times in a row.")

    def failed(self, result: ToolResult) -> bool:
        """Whether a result counts."""
        return result.is_error

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """What a failure counts for: the tool and the beginning of its error."""
        return call.name, result.text[:120]

    def succeeded(self, call: ToolUse) -> None:
        """Forget what failed."""
        self.counts.clear()


def instead(new: Callable[[], Guard]) -> Callable[[Sequence[ToolSpec]], Sequence[Guard]]:
    """The guards of an agent that has this one for everything but empty input."""
    return lambda tools: (EmptyInputGuard(needed_by(tools)), new())
