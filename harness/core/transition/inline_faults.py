"""A script that a test writes in line: its faults fire before certain turns, its calls must fit.

A fault of a scenario file counts calls. A script that is written line by line has an order: two
refusals, then the answer. The number of calls that an agent makes for it is open.

A call that a request does not offer is a mistake of the test. `Misfit` finds it; the room above
gives that function, because only it may read JSON Schemas with a library.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from harness.core.history.past import Past
from harness.core.scenario.scenario import RequestText, Times, Turn
from harness.core.scenario.script import TurnScript, count, meets
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

    `before` is the index of the turn before that one, None without one, and `times` how often it is
    played. `meets` tells which calls the turns of this queue answer.
    """

    def __init__(
        self,
        faults: Sequence[ArmedFault],
        before: int | None,
        times: Times,
        meets: Callable[[Call], bool],
    ) -> None:
        self.faults, self._before, self._times = tuple(faults), before, count(times)
        self._meets = meets
        self._call = ""
        self._striker: ArmedFault | None = None
        for fault in faults:
            fault.gate = partial(self._admits, fault)

    def is_over(self, past: Past) -> bool:
        """Whether its turn is reached and all its faults have fired."""
        return self._is_reached(past) and self._next() is None

    def _admits(self, fault: ArmedFault, call: Call, past: Past) -> bool:
        if call.seam != "model" or not self._is_reached(past) or not self._meets(call):
            return False
        if self._call != call.key:
            self._call, self._striker = call.key, self._next()
        return self._striker is fault

    def _next(self) -> ArmedFault | None:
        return next((fault for fault in self.faults if not fault.is_spent), None)

    def _is_reached(self, past: Past) -> bool:
        return self._before is None or past.plays["model", self._before] >= self._times


class InlineScript:
    """Turns with fault queues, in lanes; after a queue that ends its lane, the lane is exhausted.

    `lanes` are the texts that requests have, one for each turn: "" takes what no other text meets.
    The turns of a lane are played in order. `last` are the queues after the last turn of a lane;
    they are made once the faults are armed.
    """

    fits_offers = True

    def __init__(
        self,
        turns: Sequence[Turn],
        lanes: Sequence[str],
        draws: Draws,
        *,
        ends: Collection[str],
        misfit: Misfit,
    ) -> None:
        rest = [Turn(say="", optional=True)] * len(ends)
        self._played, self._lanes = (*turns, *rest), (*lanes, *ends)
        self._turns = TurnScript(self._played, draws)
        self._misfit = misfit
        named = filter(None, dict.fromkeys(self._lanes))
        self._texts = {lane: RequestText(has=lane) for lane in named}
        self.last: dict[str, FaultQueue] = {}

    def lane(self, call: Call) -> str:
        """The first text that a request has; "" for none."""
        return next((lane for lane, text in self._texts.items() if meets(text, call)), "")

    def reply(self, call: Call, past: Past) -> tuple[Value, int | None] | Miss | None:
        """The reply that is due, a miss if it does not fit; None past the last turn and fault."""
        lane = self.lane(call)
        index = self._due(lane, past)
        if index is None or (lane in self.last and self.last[lane].is_over(past)):
            return None
        found = self._turns.answer(index, self._played[index], call)
        if not isinstance(found[0], Reply) or found[0].unoffered:
            return found
        uses = (block for block in found[0].blocks if isinstance(block, ToolUse))
        misfit = next(filter(None, (self._misfit(use, call.tools) for use in uses)), "")
        return Miss(misfit, "script.unoffered") if misfit else found

    def _due(self, lane: str, past: Past) -> int | None:
        for index, (turn, of) in enumerate(zip(self._played, self._lanes, strict=True)):
            if of == lane and past.plays["model", index] < count(turn.times):
                return index
        return None

    def unplayed(self, past: Past) -> Iterator[str]:
        """Yield the turns that were never played."""
        return self._turns.unplayed(past)
