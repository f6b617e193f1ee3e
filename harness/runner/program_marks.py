"""Reads the marks that a program writes: JSON Lines, the local output of Antithesis' SDKs.

The file is the program's: it may be cut, of any size, or hold what another wrote. So a line that
cannot be read is told and left out, and no more than `BYTES_MOST` are read. The SDKs write a mark
the first time that it holds and the first time that it does not, so a file is small.

Writes the marks of the agent's code into the history of its run.

A mark never waits for the lock of the run: a handler of a signal may make one while its own thread
holds it. Such a mark, and one beside the call of another thread, is written before the next call.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from harness.core.history.history import MARKS_MOST
from harness.core.values.mark_kinds import (
    LOCAL_OUTPUT,
    NAME_MOST,
    TEXT_MOST,
    Mark,
    MarkKind,
    bounded,
)
from harness.core.values.messages import Json
from harness.redaction.encoder import beginning
from harness.transports.dispatcher import Dispatcher


class MarkLog:
    """The marks of one run or attempt; `read` returns those that a program has written since."""

    def __init__(
        self, dispatcher: Dispatcher, read: Callable[[], Iterable[Mark]] | None = None
    ) -> None:
        self._history, self._dispatcher = dispatcher.transition.history, dispatcher
        self._waiting, self._read = deque[Mark](maxlen=MARKS_MOST), read or tuple
        if read is not None:  # an agent without marks pays nothing for each call
            dispatcher.before_call = self.write

    def knows(self, kind: MarkKind, name: str, holds: bool) -> bool:
        """Whether the turn has this mark already."""
        return self._history.has_mark(kind, name, holds)

    def take(self, mark: Mark) -> None:
        """Keep a mark, and write it if no call is decided at this moment."""
        self._waiting.append(mark)
        self._dispatcher.before_call = self.write
        if self._dispatcher.lock.acquire(blocking=False):
            try:
                self.write(self._dispatcher.clock.now_ms())
            finally:
                self._dispatcher.lock.release()

    def write(self, at_ms: int) -> None:
        """Write what has come so far."""
        while self._waiting:
            self._history.marked(self._waiting.popleft(), at_ms)
        for mark in self._read():
            self._history.marked(mark, at_ms)


BYTES_MOST, LINE_MOST = 16_000_000, 1_000_000
"""The most bytes of a file that are read, and the most of one line."""

_OTHERS = ("antithesis_setup", "antithesis_sdk", "antithesis_guidance", "antithesis_error")
"""What the SDKs also write; any other object is an event of the program's own, and says nothing."""


class _Location(msgspec.Struct):
    file: str = ""
    function: str = ""
    begin_line: int = 0

    def __str__(self) -> str:
        """The place, as marks of Python targets name theirs."""
        place = f"{self.file}:{self.begin_line}" if self.begin_line else self.file
        return f"{place} in {self.function}" if self.function and place else place


class _Assert(msgspec.Struct):
    """One line. A declaration is not `hit`; an `unreachable` need not be (`must_hit`)."""

    assert_type: str
    message: str = ""
    id: str = ""
    hit: bool = True
    must_hit: bool = True
    condition: bool = False
    display_type: str = ""
    location: _Location | None = None
    details: Json = None

    @property
    def kind(self) -> MarkKind:
        """Its kind. Raises ValueError for a type that is unknown."""
        if self.assert_type == "always":
            return "always"
        if self.assert_type == "sometimes":
            return "sometimes"
        if self.assert_type != "reachability":
            raise ValueError(f"no assert_type is named {self.assert_type[:50]!r}")
        is_owed = self.display_type != "Unreachable" and self.must_hit
        return "reachable" if is_owed else "unreachable"

    def mark(self) -> Mark:
        """The line as a mark. Raises ValueError if it has no name, or a type that is unknown."""
        if not (name := self.message or self.id):
            raise ValueError("neither message nor id names the mark")
        kind = self.kind
        holds = kind == "reachable" or (self.condition and kind != "unreachable")
        cut = partial(beginning, most_chars=TEXT_MOST)
        where = cut(str(self.location)) if self.location else ""
        details = bounded(self.details, cut) if self.details else None
        return Mark(kind, beginning(name, NAME_MOST), holds if self.hit else None, details, where)


_Line = msgspec.json.Decoder(dict[str, msgspec.Raw])


class ProgramMarks:
    """The file of marks of one run; a program may write it in several lives."""

    def __init__(self, folder: Path) -> None:
        self._path, self._rest = folder / "marks.jsonl", b""
        self._bytes = self._lines = self._bad = self._unread = 0
        self._first = ""

    @property
    def names(self) -> dict[str, str]:
        """The variable that names the file to the program."""
        return {LOCAL_OUTPUT: str(self._path)}

    def read(self) -> Iterator[Mark]:
        """Yield the marks of the whole lines that were written since."""
        *lines, self._rest = (self._rest + self._new()).split(b"\n")
        for line in lines:
            if (mark := self._mark(line)) is not None:
                yield mark
        if len(self._rest) > LINE_MOST:  # what remains of it is a bad line
            self._rest = self._rest[:LINE_MOST]

    def end(self) -> Iterator[Mark]:
        """Yield what is left at the end of the run; the last line may have no end."""
        yield from self.read()
        line, self._rest = self._rest, b""
        if line.strip() and (mark := self._mark(line)) is not None:
            yield mark

    @property
    def unread(self) -> tuple[str, ...]:
        """What could not be read, in words."""
        words = []
        if self._bad:
            lines = "1 line" if self._bad == 1 else f"{self._bad} lines"
            words.append(f"{lines} of its file of marks cannot be read: {self._first}")
        if self._unread:
            words.append(f"{self._unread} bytes of its file of marks, after {BYTES_MOST}")
        return tuple(words)

    def _new(self) -> bytes:
        """Return the bytes that were added, as far as they are read."""
        try:
            found = os.stat(self._path)
            if not stat.S_ISREG(found.st_mode) or found.st_size <= self._bytes:
                return b""
            self._unread = max(found.st_size - BYTES_MOST, 0)
            with self._path.open("rb") as file:
                file.seek(self._bytes)
                data = file.read(max(min(found.st_size, BYTES_MOST) - self._bytes, 0))
        except OSError:  # there is none, or the program has taken it away
            return b""
        self._bytes += len(data)
        return data

    def _mark(self, line: bytes) -> Mark | None:
        self._lines += 1
        if not line.strip():
            return None
        try:
            return _mark_of(line)
        except (ValueError, RecursionError) as error:  # msgspec's own errors are ValueErrors
            self._bad += 1
            self._first = self._first or f"line {self._lines}: {beginning(str(error), 200)}"
            return None


def _mark_of(line: bytes) -> Mark | None:
    """Return the mark of a line; None for another event. Raises ValueError for a bad line."""
    said: dict[str, Any] = _Line.decode(line)
    raw = said.get("antithesis_assert")
    if raw is None or any(name in said for name in _OTHERS):
        return None
    return msgspec.json.decode(raw, type=_Assert).mark()
