"""Pairing: which result of a transcript answers which call.

Recordings reuse ids: an id issued again opens a new call, and a result answers the oldest open one.
A second result of an id is a duplicate also for such a new call: a provider refuses an id that is
used twice. A result without an id (Gemini, `function` messages) answers the oldest open call of
all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from harness.core.values.messages import Message, ToolResult, ToolUse, side
from harness.recordings.transcripts import Transcript

Kind = Literal["answer", "duplicate", "orphan"]


class CallFound(msgspec.Struct):
    """A call: its message (an index) and turn, and whether a result answers it."""

    use: ToolUse
    message: int
    turn: int
    answered: bool = False


class ResultFound(msgspec.Struct):
    """A result: its message, what it is, the call that it answers or repeats (an index).

    `late`: it does not stand in the turn right after its call's.
    """

    result: ToolResult
    message: int
    kind: Kind
    call: int | None = None
    name: str = ""
    late: bool = False


class Pairing(msgspec.Struct):
    """The calls and results of a transcript, flat and in order."""

    calls: list[CallFound]
    results: list[ResultFound]


def pair(transcript: Transcript) -> Pairing:
    """Pair the calls and results of a transcript; messages of the system are not counted."""
    found = _Matching()
    for index, turn, message in _turns(transcript.said):
        for block in message.blocks:
            if isinstance(block, ToolUse):
                found.call(block, index, turn)
            elif isinstance(block, ToolResult):
                found.result(block, index, turn)
    return Pairing(found.calls, found.results)


def _turns(said: Sequence[Message]) -> Iterator[tuple[int, int, Message]]:
    turn, before = 0, None
    for index, message in enumerate(said):
        now = side(message) == "assistant"
        turn += now != before
        before = now
        yield index, turn, message


class _Matching:
    def __init__(self) -> None:
        self.calls: list[CallFound] = []
        self.results: list[ResultFound] = []
        self._by_id: dict[str, deque[int]] = {}
        self._last: dict[str, int] = {}
        self._answered: set[str] = set()
        self._oldest = 0

    def call(self, use: ToolUse, message: int, turn: int) -> None:
        at = len(self.calls)
        self.calls.append(CallFound(use, message, turn))
        if use.id:
            self._by_id.setdefault(use.id, deque()).append(at)
            self._last[use.id] = at

    def result(self, result: ToolResult, message: int, turn: int) -> None:
        at, kind = self._match(result.id)
        found = ResultFound(result, message, kind, at)
        if at is not None:
            call = self.calls[at]
            call.answered = True
            found.name, found.late = call.use.name, turn != call.turn + 1
        self.results.append(found)

    def _match(self, id_: str) -> tuple[int | None, Kind]:
        if not id_:
            return self._oldest_open()
        if id_ not in self._last:
            return None, "orphan"
        kind: Kind = "duplicate" if id_ in self._answered else "answer"
        self._answered.add(id_)
        waiting = self._by_id[id_]
        while waiting and self.calls[waiting[0]].answered:
            waiting.popleft()
        return (waiting.popleft() if waiting else self._last[id_]), kind

    def _oldest_open(self) -> tuple[int | None, Kind]:
        while self._oldest < len(self.calls) and self.calls[self._oldest].answered:
            self._oldest += 1
        return (self._oldest, "answer") if self._oldest < len(self.calls) else (None, "orphan")
