"""A script played by hand: a call, the turn that is due for it, and a turn that was played."""

from __future__ import annotations

from typing import Any

from harness.core.history.past import Past
from harness.core.scenario.script import TurnScript
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.messages import Message, Text, ToolResult


def call(purpose: Any = "main", *, tools: bool = True, results: tuple[str, ...] = ()) -> Call:
    """A call of the model; its last message gives results, or says hi."""
    request = ModelRequest("m", (), tools_offered=tools)
    last = Message("user", tuple(ToolResult(name, "r") for name in results) or (Text("hi"),))
    return Call("main/model#1", "model", 1, "main", 1, 0, request, purpose, (last,))


def played(past: Past, index: int, lane: str = "model:main", times: int = 1) -> Past:
    """The past after a turn was played in its lane."""
    past.last_played[lane] = index
    past.plays["model", index] += times
    return past


def due(script: TurnScript, past: Past, asked: Call | None = None) -> int | None:
    """The number of the turn that is due, or None at the end of the script."""
    found = script.reply(asked or call(), past)
    return None if found is None else found[1]
