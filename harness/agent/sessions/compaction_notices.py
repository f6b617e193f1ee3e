"""Compactions that another program announces in the middle of an answer. Pure.

A command-line agent announces a compaction with a hook that names its session file. It does not
announce the end: the next message is the sign. One query may have several, each with its own path.
"""

from __future__ import annotations

from collections import deque
from typing import Literal, TypeAlias

import msgspec

Notice: TypeAlias = Literal["start", "end"]


class CompactionEnd(msgspec.Struct, frozen=True):
    """What a message means for the compaction before it.

    `path` is the session file to read when a compaction has just ended. The message is already in
    that file and must not be added again.
    """

    notices: tuple[Notice, ...] = ()
    just_ended: bool = False
    path: str = ""


class CompactionNotices:
    """The compactions of one query after another."""

    def __init__(self) -> None:
        self._paths: deque[str] = deque()
        self._started = False

    def begin_query(self) -> None:
        """Forget what the last query announced."""
        self._paths.clear()
        self._started = False

    def announce(self, path: str) -> None:
        """The program is about to compact into the file of this path."""
        self._paths.append(path)

    def heartbeat(self) -> tuple[Notice, ...]:
        """Time has passed: a compaction that was announced and not yet told has started."""
        if not self._paths or self._started:
            return ()
        self._started = True
        return ("start",)

    def message(self) -> CompactionEnd:
        """A message has come: the compaction that was announced first is over."""
        if not self._paths:
            return CompactionEnd()
        notices = (*self.heartbeat(), "end")
        self._started = False
        return CompactionEnd(notices, True, self._paths.popleft())
