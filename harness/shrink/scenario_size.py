"""The size of a scenario: four numbers, compared in order.

They are the things to read, the turns played, how hard and late faults strike, and the JSON's
bytes. Every kept candidate is smaller, so shrinking ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from harness.core.scenario.scenario import (
    CassetteScript,
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    Turn,
    When,
)
from harness.core.scenario.script import count
from harness.core.values.messages import Json, canonical

_THEN = {"ok": 0, "same": 1, "escalate": 2}


class ScenarioSize(NamedTuple):
    """The size of a scenario. Tuples compare from the left."""

    things: int
    plays: int
    strength: int
    bytes: int


class Extent(NamedTuple):
    """What a reader counts: turns of the model's script, faults, messages of inbox and session."""

    turns: int
    faults: int
    inbox: int
    session: int
    tools: int


def turns_of(scenario: Scenario) -> tuple[Turn, ...]:
    """The turns of the model's script; none of a cassette."""
    return () if isinstance(scenario.script, CassetteScript) else scenario.script


def with_turn(scenario: Scenario, place: int, turn: Turn) -> Scenario:
    """The scenario with another turn at a place of its script."""
    script = turns_of(scenario)
    script = (*script[:place], turn, *script[place + 1 :])
    return msgspec.structs.replace(scenario, script=script)


def extent(scenario: Scenario) -> Extent:
    """The size of a scenario as a reader sees it."""
    return Extent(
        len(turns_of(scenario)),
        len(scenario.faults),
        len(scenario.inbox),
        len(scenario.session.messages),
        len(scenario.tools),
    )


def size_of(scenario: Scenario) -> ScenarioSize:
    """The size of a scenario."""
    turns, tools = turns_of(scenario), scenario.tools.values()
    outcomes = [outcome for tool in tools for outcome in tool.script]
    things = sum(extent(scenario)) + len(outcomes) + sum(map(_blocks, turns))
    things += sum(_length(message.content) for message in scenario.session.messages)
    things += sum(_length(fault.when) for fault in scenario.faults)
    plays = sum(count(turn.times) for turn in turns)
    plays += sum(1 if o.times == "forever" else o.times for o in outcomes)
    strength = sum(map(_strength, scenario.faults)) + sum(o.bytes or 0 for o in outcomes)
    strength += sum(map(_lateness, scenario.inbox))
    return ScenarioSize(things, plays, strength, len(canonical(plain(scenario))))


def plain(scenario: Scenario) -> dict[str, Json]:
    """The scenario as plain values, without defaults, and without the agent's profile."""
    values: dict[str, Json] = msgspec.to_builtins(scenario)
    values.pop("profile", None)
    for tool in values.get("tools", {}).values():
        if tool["input_schema"] == _NO_ARGUMENTS:
            del tool["input_schema"]
    return values


_NO_ARGUMENTS = ToolScript().input_schema


def _blocks(turn: Turn) -> int:
    """How much a turn says; a call is two things, for it brings a result."""
    short = sum(part is not None for part in (turn.say, turn.think, turn.use, turn.use))
    calls = [block for block in turn.blocks if block.get("type") == "tool_use"]
    return short + len(turn.blocks) + len(calls)


def _length(value: Any) -> int:
    """How many entries a list has; anything else is one thing."""
    return len(value) if isinstance(value, (list, tuple)) else 1


def _strength(fault: FaultSpec) -> int:
    often = 1 if fault.often == "once" else 1 + count(fault.often)
    when = CONDITION if isinstance(fault.when, When) else sum(_numbers(fault.when))
    return often + when + sum(_numbers(fault.settings)) + _THEN[fault.then]


def _lateness(item: InboxItem) -> int:
    """The number of the call that a message comes after; an answer of the model is the earliest."""
    after = str(item.when.get("after", "")) if isinstance(item.when, dict) else ""
    lane, _, number = after.rpartition("#")
    return 2 * int(number) + (not lane.endswith("model")) if number.isdecimal() else 0


CONDITION = 1000
"""It exceeds any usual number of a call: a fault at a call is easier to read than a condition."""


def _numbers(value: Any) -> list[int]:
    """The whole numbers in a value, however deep."""
    match value:
        case bool():
            return []
        case int():
            return [abs(value)]
        case dict():
            return [n for v in value.values() for n in _numbers(v)]
        case list() | tuple():
            return [n for v in value for n in _numbers(v)]
    return []
