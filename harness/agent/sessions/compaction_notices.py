"""Compactions that another program announces during an answer. Pure.

A command-line agent announces a compaction with a hook that names its session file. It does not
announce the end; the next message shows it. One query may have several compactions, each with its
own path.
"""

from __future__ import annotations

from collections import deque
from typing import Literal, TypeAlias

import msgspec

Notice: TypeAlias = Literal["start", "end"]


class CompactionEnd(msgspec.Struct, frozen=True):
    """The meaning of a message for the compaction before it.

    `path` is the session file to read if a compaction has just ended. The message is already in
    that file and must not be added again.
    """

    notices: tuple[Notice, ...] = ()
    just_ended: bool = False
    path: str = ""


class CompactionNotices:
    """The compactions of consecutive queries."""

    def __init__(self) -> None:
        self._paths: deque[str] = deque()
        self._started = False

    def begin_query(self) -> None:
        """Forget the announcements of the last query."""
        self._paths.clear()
        self._started = False

    def announce(self, path: str) -> None:
        """Record that the program begins a compaction into the file of this path."""
        self._paths.append(path)

    def heartbeat(self) -> tuple[Notice, ...]:
        """Report the start of an announced compaction, once."""
        if not self._paths or self._started:
            return ()
        self._started = True
        return ("start",)

    def message(self) -> CompactionEnd:
        """Handle a message: it ends the compaction that was announced first."""
        if not self._paths:
            return CompactionEnd()
        notices = (*self.heartbeat(), "end")
        self._started = False
        return CompactionEnd(notices, True, self._paths.popleft())
