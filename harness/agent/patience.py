"""A store that is asked again: a lock is let go, a disk has room again, a cable is back.

A write that raises has not happened, which a store on this machine can promise; so it is tried
again, a few times, with growing waits. A server cannot promise that: where the answer to a commit
is lost nobody knows what happened, so its errors pass at once. What fails in the end is raised,
and the user is told.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from harness.stores.session_store import SessionStore

WAITS_S = (0.1, 1.0, 10.0)

_ASKED_AGAIN = frozenset(
    {"accept", "append", "begin", "reply", "delivered", "summarise", "pending", "load", "rows"}
)
_PASSES = (OSError, sqlite3.OperationalError)


class PatientStore:
    """A session store whose failing calls are repeated after each of the waits; `sleep` is given
    seconds."""

    def __init__(
        self,
        store: SessionStore,
        sleep: Callable[[float], None],
        waits_s: Sequence[float] = WAITS_S,
    ) -> None:
        self._store, self._sleep, self._waits_s = store, sleep, tuple(waits_s)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._patient(found) if name in _ASKED_AGAIN else found

    def _patient(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            for wait_s in self._waits_s:
                try:
                    return method(*arguments, **named)
                except _PASSES:
                    self._sleep(wait_s)
            return method(*arguments, **named)

        return call
