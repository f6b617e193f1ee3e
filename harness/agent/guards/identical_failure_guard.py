"""The guard against one call, or one tool, that fails in the same way over and over.

One streak counts one exact call, another counts one tool with changing arguments and the same
error. Either is guided after the second failure and refused after the third. A model that changes a
repeated call follows the guidance: the tool is refused only when the changed call fails too.
Success ends a call's streak; only a new success ends a tool's, as a loop may hide behind one
harmless call. A refused call has not failed and is not counted.
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
    (re.compile(r"[a-z]:\\[^\s'\"]*\\temp\\[^\s'\"]+", re.I), "PATH"),
)
"""What changes in an error's text without the error being another: times, ids, scratch paths."""

_NUMBER = re.compile(r"\d+")


def fingerprint(error: str) -> str:
    """An error's identity: its text without what changes by itself."""
    for pattern, word in _VOLATILE:
        error = pattern.sub(word, error)
    return error


class _Streak:
    def __init__(self) -> None:
        self._error, self._calls, self.count = "", set[str](), 0

    def see(self, call: str, error: str) -> int:
        if error != self._error:
            self._error, self._calls, self.count = error, set(), 0
        self._calls.add(call)
        self.count += 1
        return self.count

    def is_changed_by(self, call: str) -> bool:
        return len(self._calls) == 1 and call not in self._calls

    def is_only(self, call: str) -> bool:
        return self._calls == {call}


class IdenticalFailureGuard:
    """Allows `limit` identical failures and refuses the next call.

    Failures with one error count for one call (tool and arguments, as `identify` names it; numbers
    in the error are ignored) and, in a row, for one tool with any arguments.
    """

    def __init__(self, limit: int = 3, identify: Callable[[str, object], str] = signature) -> None:
        self._limit, self._identify = limit, identify
        self._of_call: dict[str, _Streak] = {}
        self._of_tool: dict[str, _Streak] = {}
        self._successes: set[tuple[str, str]] = set()
        self._ladder = Ladder(refusals=1)

    def begin_step(self) -> None:
        """A new batch."""
        self._ladder.begin_step()

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse a call whose streak is full."""
        count = self._count(call)
        if count < self._limit:
            return Proceed()
        failed = f"{call.name} failed {count} times in a row in the same way"
        return self._ladder.refuse(
            call.name,
            f"{failed}, and was not run again. Do something else, or tell the user what failed.",
            f"{failed}, and was called again.",
        )

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Count a failure, and guide from the one before the last that is allowed."""
        key = self._identify(call.name, call.input)
        if not result.is_error:
            self._succeeded(call.name, key, signature("", result.content))
            return Proceed()
        error = fingerprint(result_words(result))
        count = max(
            self._of_call.setdefault(key, _Streak()).see(key, _NUMBER.sub("#", error)),
            self._of_tool.setdefault(call.name, _Streak()).see(key, error),
        )
        if count < self._limit - 1:
            return Proceed()
        return Guide(
            f"[{call.name} has now failed {count} times in the same way. Calling it like this "
            "will fail again: read the error, change what it names, or stop.]"
        )

    def _count(self, call: ToolUse) -> int:
        key = self._identify(call.name, call.input)
        of_call, of_tool = self._of_call.get(key), self._of_tool.get(call.name)
        counts = [of_call.count] if of_call else []
        if of_tool and not of_tool.is_changed_by(key):
            counts.append(of_tool.count)
        return max(counts, default=0)

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
