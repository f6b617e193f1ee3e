"""Calls without arguments, to tools that need some.

A model whose output is cut off while it writes a long argument sends `{}`, is told that something
is missing, and writes the same long argument again: 21 times and more in 51 minutes, in one
recorded case. A tool that requires nothing is called with `{}` for good reasons, so the guard looks
at the schema; and only a real call of the same tool clears its count, for between two empty calls
a model may well call something harmless. A call of a reply that ended at its length is empty too,
whatever it seems to hold: hand it in as `cut_off(call)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.agent.guards.decisions import EndTurn, Ladder, Proceed, Refuse
from harness.core.values.messages import Json, ToolResult, ToolSpec, ToolUse

UNPARSED = "__unparsedToolInput"
"""The key under which arguments stand that were no whole JSON object (so too in Claude Code)."""


def is_unparsed(input: Json) -> bool:
    """Whether an input is the wrapper of arguments that were cut off."""
    return isinstance(input, dict) and UNPARSED in input


def cut_off(call: ToolUse) -> ToolUse:
    """A call of a reply that did not stop to have it run: its arguments may be a part."""
    return msgspec.structs.replace(call, input={UNPARSED: call.input})


def is_empty(input: Json) -> bool:
    """Whether a call gives no arguments: `{}`, nothing, or only what was cut off."""
    return not input or is_unparsed(input)


def bare_name(name: str) -> str:
    """A tool's own name: `mcp__files__write` is `write`."""
    parts = name.split("__", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "mcp" else name


def needed_by(tools: Sequence[ToolSpec]) -> Callable[[str], tuple[str, ...]]:
    """What each tool requires, by its bare or prefixed name; nothing for an unknown tool."""
    needs = {bare_name(tool.name): tool.required for tool in tools}
    needs |= {tool.name: tool.required for tool in tools}
    return lambda name: needs.get(name, needs.get(bare_name(name), ()))


class EmptyInputGuard:
    """Answers empty calls itself: guidance, guidance, stop, then the end of the turn.

    `needed` tells the names that a tool requires.
    """

    def __init__(self, needed: Callable[[str], Sequence[str]], limit: int = 3) -> None:
        self._needed, self._limit = needed, limit
        self._ladder = Ladder(refusals=limit)

    def begin_step(self) -> None:
        """A new batch."""
        self._ladder.begin_step()

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse an empty call of a tool that needs arguments."""
        name, needed = bare_name(call.name), self._needed(call.name)
        if not is_empty(call.input):
            self._ladder.reset(name)
            return Proceed()
        if not needed and not is_unparsed(call.input):
            return Proceed()
        last = self._ladder.rung(name) + 1 >= self._limit
        return self._ladder.refuse(
            name,
            _stop(name, self._limit) if last else _guidance(name, needed),
            f"{name} was called {self._limit + 1} times in a row without whole arguments.",
        )

    def after(self, call: ToolUse, result: ToolResult) -> Proceed:
        """Nothing: an empty call has no result of its own."""
        return Proceed()


def _guidance(name: str, needed: Sequence[str]) -> str:
    return (
        f"{name} was not run: its arguments did not arrive ({', '.join(needed) or 'cut off'}). "
        "They were probably too long for one reply. Send them in smaller pieces, for example "
        "write a file part by part and pass its path."
    )


def _stop(name: str, limit: int) -> str:
    return (
        f"STOP. {name} was not run: {limit} calls in a row came without arguments. "
        "Do not call it again; answer the user in text with what you have."
    )
