"""The guard against one call, or one tool, that fails repeatedly.

One streak counts one exact call with any error: the guard guides after the second failure and
refuses after the third. Another streak counts one tool with changing arguments and the same error.
A model that changes a repeated call follows the guidance, so the tool is refused only if the
changed call fails too. A model may explore a tool with other arguments and other errors, so the
tool is refused after more failures. A success ends a call's streak. Only a new success ends a
tool's streak, because a loop may hide behind one harmless call. A refused call is not counted as a
failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.agent.guards.guard_protocol import (
    EndTurn,
    Guide,
    Ladder,
    Proceed,
    Refuse,
    result_words,
    signature,
)
from harness.core.values.messages import ToolResult, ToolUse

_VOLATILE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d([.,]\d+)?\b"), "TIME"),
    (re.compile(r"\b\d+([.,]\d+)? ?(?:ms|s|sec|seconds|milliseconds)\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I), "ID"),
    (re.compile(r"\b(?=[a-z_]*\d)(?:[a-z]+_)[0-9a-z]{16,}\b", re.I), "ID"),
    (re.compile(r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{8,}\b", re.I), "ID"),
    (re.compile(r"(?:/private)?/(?:tmp|var/folders)/[^\s'\"]+"), "PATH"),
    (re.compile(r"[a-z]:\\[^\s'\"]{0,260}\\temp\\[^\s'\"]+", re.I), "PATH"),
)
"""The parts that vary in the text of one error: times, ids, scratch paths."""

_NUMBER = re.compile(r"\d+")


def fingerprint(error: str) -> str:
    """An error's identity: its text without the variable parts."""
    for pattern, word in _VOLATILE:
        error = pattern.sub(word, error)
    return error


class _Streak:
    """Failures in a row: `total` counts any error, `count` the last error."""

    def __init__(self) -> None:
        self._error, self._calls, self.count, self.total = "", set[str](), 0, 0

    def see(self, call: str, error: str) -> None:
        if error != self._error:
            self._error, self._calls, self.count = error, set(), 0
        self._calls.add(call)
        self.count += 1
        self.total += 1

    def is_changed_by(self, call: str) -> bool:
        return len(self._calls) == 1 and call not in self._calls

    def is_only(self, call: str) -> bool:
        return self._calls == {call}


class IdenticalFailureGuard:
    """Allows `limit` failures of one call and refuses the next.

    A call is its tool and arguments, as `identify` names it. `limit` also applies to failures in a
    row of one tool with any arguments and one error. `tool_limit` (at least `limit`) applies to
    failures with any arguments and any errors.
    """

    def __init__(
        self,
        limit: int = 3,
        identify: Callable[[str, object], str] = signature,
        tool_limit: int = 12,
    ) -> None:
        self._limit, self._identify = limit, identify
        self._tool_limit = max(limit, tool_limit)
        self._of_call: dict[str, _Streak] = {}
        self._of_tool: dict[str, _Streak] = {}
        self._successes: set[tuple[str, str]] = set()
        self._ladder = Ladder(refusals=1)

    def begin_step(self) -> None:
        """Start a new batch."""
        self._ladder.begin_step()

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse a call whose streak is full."""
        key = self._identify(call.name, call.input)
        of_call, of_tool = self._of_call.get(key), self._of_tool.get(call.name)
        if of_call and of_call.total >= self._limit:
            failed = f"{call.name} failed {of_call.total} times in a row"
            if of_call.count == of_call.total:
                failed += " in the same way"
        elif of_tool and of_tool.count >= self._limit and not of_tool.is_changed_by(key):
            failed = f"{call.name} failed {of_tool.count} times in a row in the same way"
        elif of_tool and of_tool.total >= self._tool_limit:
            failed = f"{call.name} failed {of_tool.total} times in a row"
        else:
            return Proceed()
        return self._ladder.refuse(
            call.name,
            f"{failed}, and was not run again. Do something else, or tell the user what failed.",
            f"{failed}, and was called again.",
        )

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Count a failure, and guide from the last but one allowed failure."""
        key = self._identify(call.name, call.input)
        if not result.is_error:
            self._succeeded(call.name, key, signature("", result.content))
            return Proceed()
        error = fingerprint(result_words(result))
        of_call = self._of_call.setdefault(key, _Streak())
        of_tool = self._of_tool.setdefault(call.name, _Streak())
        of_call.see(key, _NUMBER.sub("#", error))
        of_tool.see(key, error)
        count = max(of_call.total, of_tool.count)
        if count >= self._limit - 1:
            how = " in the same way" if count in (of_call.count, of_tool.count) else ""
        elif of_tool.total >= self._tool_limit - 1:
            count, how = of_tool.total, ""
        else:
            return Proceed()
        return Guide(
            f"[{call.name} has now failed {count} times{how}. Calling it like this "
            "will fail again: read the error, change what it names, or stop.]"
        )

    def _succeeded(self, name: str, key: str, content: str) -> None:
        self._of_call.pop(key, None)
        of_tool = self._of_tool.get(name)
        if of_tool and of_tool.is_only(key):
            del self._of_tool[name]
        if (key, content) not in self._successes:
            self._successes.add((key, content))
            self._of_call.clear()
            self._of_tool.clear()
            self._ladder = Ladder(refusals=1)
