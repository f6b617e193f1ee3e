"""Writes that a store refuses for a moment, as under another process's lock.

A store fault sends reads across the seam too, which halves the speed of a machine. Here only
refusals cross it. They record the refused row, so the checks know which row may be lost.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from harness.clock import VirtualClock
from harness.core.history.history import History
from harness.core.values.calls import StoreRequest
from harness.core.values.messages import Message

MOST_REFUSALS = 6
"""More refusals than an agent's tries of one write, and too few to lose all rows of a turn."""

KIND = "persistence.locked"


class WriteRefusals:
    """Counts rows, and refuses some writes."""

    def __init__(self, history: History, clock: VirtualClock) -> None:
        self._history, self._clock = history, clock
        self._passing = self._left = 0

    def begin(self, first: int, times: int) -> None:
        """Refuse rows from the `first` one on (from 1), `times` times."""
        self._passing, self._left = first - 1, times

    def end(self) -> None:
        """Refuse no more."""
        self._left = 0

    def meet(self, arguments: tuple[Any, ...]) -> None:
        """Count appended rows. Raises the error of the store's library for a refused one."""
        if self._left and self._passing:
            self._passing -= 1
        elif self._left:
            self._left -= 1
            self._record(arguments)
            raise sqlite3.OperationalError("database is locked")

    def _record(self, arguments: tuple[Any, ...]) -> None:
        past, at_ms = self._history.past, self._clock.now_ms()
        messages = [given for given in arguments if isinstance(given, Message)]
        rows = tuple(self._history.note(message, at_ms) for message in messages)
        session = past.working_session
        turn, number = past.turn(session), past.next_index(session, "store")
        key = f"{session or 'main'}/store#{number}"
        request = StoreRequest("append", rows)
        self._history.called(
            key=key, seam="store", request=request, at_ms=at_ms, session=session, turn=turn
        )
        self._history.answered(
            key, "store", at_ms, session, turn, faults=(KIND,), outcome="error", complete=False
        )


class RefusingStore:
    """A session store that may refuse rows of a running turn.

    If a message or its reply cannot be stored, the user gets a notice. The message may then be
    redelivered or resumed by a later instance; scenarios judge that.
    """

    def __init__(self, store: Any, refusals: WriteRefusals) -> None:
        self._store, self._refusals = store, refusals

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, *arguments: Any) -> Any:
        """Store a row, unless it is refused."""
        self._refusals.meet(arguments)
        return self._store.append(*arguments)
