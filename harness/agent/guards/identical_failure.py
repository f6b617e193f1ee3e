"""The same call failing in the same way, and a tool that keeps failing in one way.

Two streaks, for two habits. A model that repeats a call to the letter is guided after the second
failure and refused after the third. A model that varies the arguments may be exploring, so it is
only guided at first, and stopped when four calls have brought the very same error. Successes with
other arguments do not clear the first streak, or a call that fails for ever would hide behind them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.agent.guards.decisions import (
    EndTurn,
    Guide,
    Ladder,
    Proceed,
    Refuse,
    signature,
)
from harness.core.messages import ToolResult, ToolUse

_VOLATILE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I), "ID"),
    (re.compile(r"\b(?=[a-z_]*\d)(?:[a-z]+_)[0-9a-z]{16,}\b", re.I), "ID"),
    (re.compile(r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{8,}\b", re.I), "ID"),
    (re.compile(r"(?:/private)?/(?:tmp|var/folders)/[^\s'\"]+"), "PATH"),
)
"""What changes in an error's text without the error being another: times, ids, scratch paths."""


def fingerprint(error: str) -> str:
    """An error's identity: its text without what changes by itself."""
    for pattern, word in _VOLATILE:
        error = pattern.sub(word, error)
    return error


class _Streak:
    """How often in a row the same thing has happened."""

    def __init__(self) -> None:
        self._what, self.count = "", 0

    def see(self, what: str) -> int:
        self.count = self.count + 1 if what == self._what else 1
        self._what = what
        return self.count


class IdenticalFailureGuard:
    """Three identical failures of a call, and it is not run a fourth time.

    `same_call` counts failures of one tool with one input, `same_error` those of one tool with
    whatever input. `identify` names a call, by default by tool and arguments.
    """

    def __init__(
        self,
        same_call: int = 3,
        same_error: int = 4,
        identify: Callable[[str, object], str] = signature,
    ) -> None:
        self._same_call, self._same_error, self._identify = same_call, same_error, identify
        self._calls: dict[str, _Streak] = {}
        self._tools: dict[str, _Streak] = {}
        self._ladder = Ladder(refusals=1)

    def begin_step(self) -> None:
        """A new batch."""
        self._ladder.begin_step()

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse a call whose streak is full."""
        key = self._identify(call.name, call.input)
        streak = self._calls.get(key)
        if streak is None or streak.count < self._same_call:
            return Proceed()
        failed = f"{call.name} failed {streak.count} times with the same arguments and error"
        return self._ladder.refuse(
            key,
            f"{failed}, and was not run again. Do something else, or tell the user what failed.",
            f"{failed}, and was called again.",
        )

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide | EndTurn:
        """Count a failure; guide before a streak is full, end the turn when a tool's is."""
        key = self._identify(call.name, call.input)
        if not result.is_error:
            self._calls.pop(key, None)
            self._tools.pop(call.name, None)
            return Proceed()
        error = fingerprint(result.text)
        of_call = self._calls.setdefault(key, _Streak()).see(error)
        of_tool = self._tools.setdefault(call.name, _Streak()).see(error)
        if of_tool >= self._same_error:
            return EndTurn(f"{call.name} failed {of_tool} times in a row with the same error.")
        if max(of_call, of_tool) < self._same_call - 1:
            return Proceed()
        return Guide(
            f"[{call.name} has now failed {max(of_call, of_tool)} times in the same way. Calling "
            "it again like this will fail again: read the error, change the arguments, or stop.]"
        )
