"""The guard against calls without arguments of tools that require some.

A model whose output is cut off in a long argument sends `{}`. It repeats this after an error: 21
times in 51 minutes in one recorded case. Tools without required inputs may be called with `{}`, so
the guard reads the schema. Only a proper call of the same tool resets its count, because harmless
calls may come between. A call cut at the length limit counts as empty: pass it as `cut_off(call)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.agent.guards.guard_protocol import (
    EndTurn,
    Ladder,
    Proceed,
    Refuse,
    bare_name,
    is_empty,
    is_unparsed,
)
from harness.core.values.messages import ToolResult, ToolUse


class EmptyInputGuard:
    """Answers empty calls itself: guidance, guidance, stop, then the end of the turn.

    `needed` returns the required input names of a tool.
    """

    def __init__(self, needed: Callable[[str], Sequence[str]], limit: int = 3) -> None:
        self._needed, self._limit = needed, limit
        self._ladder = Ladder(refusals=limit)

    def begin_step(self) -> None:
        """Start a new batch."""
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
        """Do nothing, because an empty call has no result."""
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
