"""Writes the marks of the agent's code into the history of its run.

A mark never waits for the lock of the run: a handler of a signal may make one while its own thread
holds it. Such a mark, and one beside the call of another thread, is written before the next call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from harness.core.history.history import MARKS_MOST
from harness.core.values.mark_kinds import Mark, MarkKind
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
