"""The short form: `say`, `think` and `use` in place of blocks, a text in place of a list of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness.core.scenario.scenario import Scenario, SeedMessage, Turn
from harness.core.values.messages import Json
from harness.shrink.measure import turns_of
from harness.shrink.steps import Reduction, Steps, in_turn

_SHORT = {"thinking": ("text", "think"), "text": ("text", "say"), "tool_use": ("name", "use")}
"""Block types in the order in which the short form says them: the field, and the key for it."""


def short_forms(scenario: Scenario) -> Steps[Scenario]:
    """Blocks that the short form can say are said in it."""
    turns = [_short_turn(place) for place in range(len(turns_of(scenario)))]
    stored = [_short_message(place) for place in range(len(scenario.session.messages))]
    yield from in_turn(scenario, [*turns, *stored])


def _short_turn(place: int) -> Reduction:
    def reduce(scenario: Scenario) -> Steps[Scenario]:
        script = turns_of(scenario)
        turn = _short(script[place])
        if turn is not None:
            turns = (*script[:place], turn, *script[place + 1 :])
            yield msgspec.structs.replace(scenario, script=turns)

    return reduce


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


def _short_message(place: int) -> Reduction:
    def reduce(scenario: Scenario) -> Steps[Scenario]:
        stored = scenario.session.messages
        text = _only_text(stored[place].content)
        if text is not None:
            message = SeedMessage(role=stored[place].role, content=text)
            changed = (*stored[:place], message, *stored[place + 1 :])
            session = msgspec.structs.replace(scenario.session, messages=changed)
            yield msgspec.structs.replace(scenario, session=session)

    return reduce


def _only_text(content: str | Sequence[dict[str, Json]]) -> str | None:
    if isinstance(content, str) or len(content) != 1 or content[0].get("type") != "text":
        return None
    return str(content[0].get("text", ""))
