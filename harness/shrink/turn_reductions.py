"""Simpler turns: one plain word where any answer of the model would do, then the short form.

Cutting alone keeps a call that does not matter. A tool that no turn calls goes with the call. The
short form has `say`, `think` and `use` in place of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from harness.core.scenario.scenario import Scenario, SeedMessage, Turn
from harness.core.values.messages import Json
from harness.shrink.delta_debugging import Candidates, in_turn
from harness.shrink.scenario_size import turns_of
from harness.shrink.script_reductions import called
from harness.shrink.session_reductions import with_messages

PLAIN = Turn(say="Yes.")


def plain_answers(scenario: Scenario) -> Candidates[Scenario]:
    """One plain answer in place of the script, else in place of each turn that is more."""
    if (yield _with(scenario, (PLAIN,))):
        return
    yield from in_turn(scenario, [partial(_plain, n) for n in range(len(turns_of(scenario)))])


def _plain(place: int, scenario: Scenario) -> Candidates[Scenario]:
    script = turns_of(scenario)
    answer = msgspec.structs.replace(PLAIN, purpose=script[place].purpose)
    if script[place] != answer:
        yield _with(scenario, (*script[:place], answer, *script[place + 1 :]))


def _with(scenario: Scenario, script: tuple[Turn, ...]) -> Scenario:
    """The scenario with another script, and the tools that it calls or a fault is on."""
    used = {name for turn in script for name in called(turn)}
    used |= {fault.on.removeprefix("tool:") for fault in scenario.faults}
    tools = {name: tool for name, tool in scenario.tools.items() if name in used}
    return msgspec.structs.replace(scenario, script=script, tools=tools)


_SHORT = {"thinking": ("text", "think"), "text": ("text", "say"), "tool_use": ("name", "use")}
"""Block types in the order in which the short form says them: the field, and the key for it."""


def short_forms(scenario: Scenario) -> Candidates[Scenario]:
    """Turns and messages that the short form can write are written in it."""
    turns = [partial(_short_turn, place) for place in range(len(turns_of(scenario)))]
    stored = [partial(_short_message, place) for place in range(len(scenario.session.messages))]
    yield from in_turn(scenario, [*turns, *stored])


def _short_turn(place: int, scenario: Scenario) -> Candidates[Scenario]:
    script = turns_of(scenario)
    turn = _short(script[place])
    if turn is not None:
        turns = (*script[:place], turn, *script[place + 1 :])
        yield msgspec.structs.replace(scenario, script=turns)


def _short(turn: Turn) -> Turn | None:
    """The turn without blocks; None if the short form cannot say it."""
    if not turn.blocks or any(p is not None for p in (turn.say, turn.think, turn.use)):
        return None
    types = [block.get("type") for block in turn.blocks]
    if types != [kind for kind in _SHORT if kind in types]:
        return None
    said: dict[str, Any] = {}
    for block in turn.blocks:
        field, key = _SHORT[str(block["type"])]
        said[key] = block.get(field, "")
        if key == "use" and block.get("input"):
            said["input"] = block["input"]
    return msgspec.structs.replace(turn, blocks=(), **said)


def _short_message(place: int, scenario: Scenario) -> Candidates[Scenario]:
    stored = scenario.session.messages
    text = _only_text(stored[place].content)
    if text is not None:
        message = SeedMessage(role=stored[place].role, content=text)
        yield with_messages(scenario, (*stored[:place], message, *stored[place + 1 :]))


def _only_text(content: str | Sequence[dict[str, Json]]) -> str | None:
    if isinstance(content, str) or len(content) != 1 or content[0].get("type") != "text":
        return None
    return str(content[0].get("text", ""))
