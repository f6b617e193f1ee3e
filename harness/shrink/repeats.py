"""Repetition: equal neighbours become one turn with `times`, which is then as low as will do.

A session in which the model says the same for 500 turns is two words that way, and a dozen runs
find out how often it really has to. A stretch of several turns that comes again and again is cut
to fewer rounds by `rounds` and `turns`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from harness.core.scenario.scenario import Scenario, ToolTurn, Turn
from harness.core.scenario.script import FOREVER, count
from harness.shrink.measure import turns_of
from harness.shrink.steps import Reduction, Steps, in_turn, lowered, mapped

_T = TypeVar("_T", Turn, ToolTurn)


def folded_turns(scenario: Scenario) -> Steps[Scenario]:
    """Equal neighbours of the script become one: all at once, then stretch by stretch."""
    script = turns_of(scenario)
    for turns in (_folded(script), *_each_folded(script)):
        if (yield msgspec.structs.replace(scenario, script=turns)):
            return


def folded_outcomes(scenario: Scenario) -> Steps[Scenario]:
    """Equal neighbours of each tool's script become one; the last one is said for ever."""
    yield from in_turn(scenario, [_tool_folded(name) for name in scenario.tools])


def fewer_times(scenario: Scenario) -> Steps[Scenario]:
    """Every turn of the script is played as few times as will do."""
    yield from in_turn(scenario, [_fewer(place) for place in range(len(turns_of(scenario)))])


def _fewer(place: int) -> Reduction:
    def reduce(scenario: Scenario) -> Steps[Scenario]:
        script = turns_of(scenario)
        before, turn, behind = script[:place], script[place], script[place + 1 :]

        def played(times: int) -> Scenario:
            fewer = msgspec.structs.replace(turn, times=times)
            return msgspec.structs.replace(scenario, script=(*before, fewer, *behind))

        yield from mapped(lowered(min(count(turn.times), _OFTEN)), played)

    return reduce


_OFTEN = 4096
"""What is said for ever is tried up to this many times."""


def _tool_folded(name: str) -> Reduction:
    def reduce(scenario: Scenario) -> Steps[Scenario]:
        tool = scenario.tools[name]
        folded = _folded(tool.script)
        endless = [msgspec.structs.replace(turn, times="forever") for turn in folded[-1:]]
        for script in ((*folded[:-1], *endless), folded):
            changed = msgspec.structs.replace(tool, script=script)
            if (yield msgspec.structs.replace(scenario, tools={**scenario.tools, name: changed})):
                return

    return reduce


def _folded(script: Sequence[_T]) -> tuple[_T, ...]:
    folded: list[_T] = []
    for turn in script:
        if folded and _is_same(folded[-1], turn):
            folded[-1] = _both(folded[-1], turn)
        else:
            folded.append(turn)
    return tuple(folded)


def _each_folded(script: tuple[Turn, ...]) -> Iterator[tuple[Turn, ...]]:
    """The script with one stretch of equal neighbours folded, for each stretch."""
    start = 0
    for end in range(1, len(script) + 1):
        if end == len(script) or not _is_same(script[start], script[end]):
            if end - start > 1:
                yield (*script[:start], *_folded(script[start:end]), *script[end:])
            start = end


def _is_same(one: _T, other: _T) -> bool:
    return one == msgspec.structs.replace(other, times=one.times)


def _both(one: _T, other: _T) -> _T:
    times = count(one.times) + count(other.times)
    return msgspec.structs.replace(one, times="forever" if times >= FOREVER else times)
