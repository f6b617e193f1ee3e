"""A script that a test writes in line: its faults fire before certain turns, its calls must fit.

A fault of a scenario file counts calls. A script that is written line by line has an order: two
refusals, then the answer. The number of calls that an agent makes for it is open.

A call that a request does not offer is a mistake of the test. `Misfit` finds it; the room above
gives that function, because only it may read JSON Schemas with a library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from harness.core.history.past import Past
from harness.core.scenario.scenario import Turn
from harness.core.scenario.script import TurnScript, count
from harness.core.transition.arming import ArmedFault
from harness.core.transition.ports import Miss
from harness.core.values.calls import Call
from harness.core.values.draws import Draws
from harness.core.values.messages import ToolSpec, ToolUse
from harness.core.values.plans import Reply, Value

Misfit = Callable[[ToolUse, Sequence[ToolSpec]], str]
"""Why a request with these tools cannot be answered by a call; "" if it can."""


class FaultQueue:
    """The faults before one turn: one fault fires at each call, after the faults before it are
    spent.

    `place` is the turn's index in the script, and `before` the turn before it.
    """

    def __init__(self, faults: Sequence[ArmedFault], place: int, before: Turn | None) -> None:
        self.faults, self._place, self._before = tuple(faults), place, before
        self._call = ""
        self._striker: ArmedFault | None = None
        for fault in faults:
            fault.gate = partial(self._admits, fault)

    def is_over(self, past: Past) -> bool:
        """Whether its turn is reached and all its faults have fired."""
        return self._is_reached(past) and self._next() is None

    def _admits(self, fault: ArmedFault, call: Call, past: Past) -> bool:
        if call.seam != "model" or not self._is_reached(past):
            return False
        if self._call != call.key:
            self._call, self._striker = call.key, self._next()
        return self._striker is fault

    def _next(self) -> ArmedFault | None:
        return next((fault for fault in self.faults if not fault.is_spent), None)

    def _is_reached(self, past: Past) -> bool:
        before = self._before
        return before is None or past.plays["model", self._place - 1] >= count(before.times)


class InlineScript:
    """Turns with fault queues; after a queue that `ends` them, the script is exhausted.

    `last` is the queue after the last turn; it is made once the faults are armed.
    """

    last: FaultQueue | None = None
    fits_offers = True

    def __init__(
        self,
        turns: Sequence[Turn],
        draws: Draws,
        *,
        ends: bool,
        misfit: Misfit,
    ) -> None:
        rest = (Turn(say="", optional=True),) if ends else ()
        self._turns = TurnScript((*turns, *rest), draws)
        self._ends, self._misfit = ends, misfit

    def reply(self, call: Call, past: Past) -> tuple[Value, int | None] | Miss | None:
        """The reply that is due, a miss if it does not fit; None past the last turn and fault."""
        if self._ends and self.last is not None and self.last.is_over(past):
            return None
        found = self._turns.reply(call, past)
        if found is None or not isinstance(found[0], Reply) or found[0].unoffered:
            return found
        uses = (block for block in found[0].blocks if isinstance(block, ToolUse))
        misfit = next(filter(None, (self._misfit(use, call.tools) for use in uses)), "")
        return Miss(misfit, "script.unoffered") if misfit else found

    def unplayed(self, past: Past) -> Iterator[str]:
        """Yield the turns that were never played."""
        return self._turns.unplayed(past)
