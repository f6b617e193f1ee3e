"""The script of a `fake_model`, made line by line. A line adds an answer, or joins the last one.

The rules of a scenario file apply here, because the values are its structs. A scripted call fits
the offer of its request: a tool of that name, and its input schema. A real model calls what it is
offered. Applications have an answer for an unknown tool, and a test with a spelling mistake in a
tool's name would pass by that answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any, Literal

import msgspec

from harness import faults
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import model_reply
from harness.core.transition.inline_faults import FaultQueue, InlineScript
from harness.core.transition.transition import Transition
from harness.core.values.calls import Call
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.runner import prepare
from harness.runner.tool_offers import misfit

_PLACE = "fake_model"

_REST = Turn(say="", optional=True)
"""What a fault behind the last answer bends."""


class LineScript:
    """Turns in order, and the faults before each of them."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._lanes: list[str] = []
        self._lane = ""
        self._faults: dict[tuple[str, int | None], list[FaultSpec]] = defaultdict(list)
        self._is_open = False

    @property
    def is_empty(self) -> bool:
        """Whether the script has no answer and no fault."""
        return not self.turns and not self._faults

    def when(self, text: str) -> None:
        """Begin or go on with the answers to requests that have a text."""
        if not _checked(text, "when"):
            raise InputError("when takes a text that the request has", _PLACE)
        self._lane, self._is_open = text, False

    def thinks(self, text: str) -> None:
        """Begin an answer with thinking."""
        self._begin(think=_checked(text, "thinks"))

    def says(self, text: str) -> None:
        """Add a text: to an answer with only thinking, else as a new answer."""
        text = _checked(text, "says")
        last = self._last()
        if last is not None and last.say is None and last.use is None and last.think is not None:
            self.changes(say=text)
        else:
            self._begin(say=text)

    def calls(self, tool: str, input: Json, *, unoffered: bool) -> None:
        """Add a call: to an answer with only text or thinking, else as a new answer.

        `unoffered`: the request need not offer it.
        """
        tool = _checked(tool, "calls")
        last = self._last()
        if last is not None and last.use is None and not last.blocks:
            self.changes(use=tool, input=input)
        else:
            self._begin(use=tool, input=input)
        self._frees(unoffered)

    def also_calls(self, tool: str, input: Json, *, unoffered: bool) -> None:
        """Add one more call to the answer."""
        last = self._last()
        if last is None or last.use is None:
            raise InputError("also_calls must follow a call of the same answer", _PLACE)
        block = {"type": "tool_use", "name": _checked(tool, "also_calls"), "input": input}
        self.changes(blocks=(*last.blocks, block))
        self._frees(unoffered)

    def turn(self, turn: Turn, *, unoffered: bool) -> None:
        """Add a turn as it is; no later line joins it."""
        if not isinstance(turn, Turn):
            what = f"a turn is a harness.Turn, not {type(turn).__name__}"
            raise InputError(f"{what}: turn(Turn(say='Yes.'))", _PLACE)
        if turn.purpose != "main" or turn.when is not None:
            raise InputError("a turn of a fake model has no `for` and no `when`", _PLACE)
        model_reply(turn, Draws(0), _PLACE)
        self._add(turn)
        self._frees(unoffered)
        self._is_open = False

    def fault(self, kind: str, settings: Mapping[str, Any]) -> None:
        """Apply a fault to the next answer."""
        spec = FaultSpec(kind=_checked(kind, "fault"), settings=dict(settings))
        if "model" not in faults.by_kind(kind, _PLACE).seams:
            raise InputError(f"fault {kind}: it does not apply to the model", _PLACE)
        faults.arm(spec, _PLACE)
        self._faults[self._place].append(spec)
        self._is_open = False

    def repeats(self, number: int | Literal["forever"]) -> None:
        """Repeat the last answer or fault this many times."""
        if number != "forever" and (type(number) is not int or number < 1):
            raise InputError(
                f"times takes a number from 1 on, or 'forever', not {number!r}", _PLACE
            )
        if between := self._faults.get(self._place):
            between[-1] = msgspec.structs.replace(between[-1], often=number)
        else:
            self.changes(times=number)

    def changes(self, **fields: Any) -> None:
        """Change the last answer."""
        _, last = place = self._place
        if last is None or self._faults.get(place):
            raise InputError("script an answer first: this changes the last answer", _PLACE)
        self.turns[last] = msgspec.structs.replace(self.turns[last], **fields)

    def makes_way(self) -> None:
        """Refuse to make way for a recording once a line is written."""
        if not self.is_empty:
            raise InputError("a cassette is the whole script: it joins no line", _PLACE)

    def as_scenario(self) -> tuple[list[Turn], list[FaultSpec]]:
        """Return the turns, and the faults in the order of their turns.

        Raises InputError for answers by `when`: they come in the order of the clients, and a
        scenario has one.
        """
        if any(self._lanes) or any(lane for lane, _ in self._faults):
            raise InputError("answers by `when` have no one order, so no scenario is made", _PLACE)
        bent = [spec for queue in self._faults.values() for spec in queue]
        is_last = ("", self._end("")) in self._faults
        return [*self.turns, *([_REST] if is_last else [])], bent

    def transition(self, scenario: Scenario) -> Transition:
        """Return the transition of the script. Raises InputError as `transition_for` does."""
        specs = tuple(spec for queue in self._faults.values() for spec in queue)
        scenario = msgspec.structs.replace(scenario, script=tuple(self.turns), faults=specs)
        ends = [lane for lane, before in self._faults if before == self._end(lane)]
        draws = Draws(scenario.seed)
        script = InlineScript(self.turns, self._lanes, draws, ends=ends, misfit=misfit)
        made = prepare.transition_for(scenario, script)
        armed = iter(made.faults)
        for (lane, before), queue in self._faults.items():
            faults = tuple(islice(armed, len(queue)))
            times = 1 if before is None else self.turns[before].times
            meets = partial(_is_of, script, lane)
            # Each queue registers with its faults; the script needs only those at its ends.
            made_queue = FaultQueue(faults, before, times, meets)
            if lane in ends and before == self._end(lane):
                script.last[lane] = made_queue
        return made

    @property
    def _place(self) -> tuple[str, int | None]:
        """Where the next line stands: its text, and the last turn before it."""
        return self._lane, self._end(self._lane)

    def _end(self, lane: str) -> int | None:
        """Return the index of the last turn of a lane."""
        return max((n for n, of in enumerate(self._lanes) if of == lane), default=None)

    def _frees(self, unoffered: bool) -> None:
        if unoffered:
            self.turns[-1] = msgspec.structs.replace(self.turns[-1], unoffered=True)

    def _last(self) -> Turn | None:
        """Return the answer that a line may still join."""
        return self.turns[-1] if self.turns and self._is_open else None

    def _begin(self, **fields: Any) -> None:
        self._add(Turn(**fields))
        self._is_open = True

    def _add(self, turn: Turn) -> None:
        last = self._end(self._lane)
        if last is not None and self.turns[last].times == "forever":
            raise InputError("an answer that repeats forever must be the last one", _PLACE)
        self.turns.append(turn)
        self._lanes.append(self._lane)


def _is_of(script: InlineScript, lane: str, call: Call) -> bool:
    return script.lane(call) == lane


def _checked(text: str, word: str) -> str:
    if not isinstance(text, str):
        raise InputError(f"{word} takes a text, not {type(text).__name__}", _PLACE)
    return text
