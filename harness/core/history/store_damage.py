"""Separates stored data from a fault's damage to closed files: rows gone, moved or doubled in the
next look."""

from __future__ import annotations

import msgspec

from harness.core.history.events import Answered, Called, Killed, Stored
from harness.core.values.calls import StoreRequest


class StoreDamage:
    """Tracks the store's openings and writes; `seen` holds the looks that show damage."""

    def __init__(self, seen: set[int]) -> None:
        self._seen = seen
        self._rows: dict[str, str] = {}
        self._opening = ""
        self._is_damaged = self._at_a_write = self._is_unkept = False

    def called(self, called: Called, request: StoreRequest) -> None:
        """Handle a call to the store."""
        if request.access == "open":
            self._opening = called.key

    def over(self) -> None:
        """Handle a call, or a new life: after it, changes in the store are the agent's own."""
        self._is_damaged = False

    def killed(self, event: Killed) -> None:
        """Handle a kill, which takes rows back: at a write to the agent's own files, or after a
        write that a fault only seemed to keep."""
        self._is_damaged = self._at_a_write = event.is_at_own_write or self._is_unkept
        self._is_unkept = False

    def answered(self, answered: Answered) -> None:
        """Handle the answer to an opening, which a fault may have changed, or to a write."""
        if answered.key == self._opening:
            self._is_damaged, self._at_a_write = bool(answered.faults), False
        elif answered.seam == "store" and answered.faults and answered.outcome == "ok":
            self._is_unkept = True

    def stored(self, event: Stored) -> Stored:
        """The current rows of the store, without rows that appear again only through damage."""
        if self._is_damaged:
            self._is_damaged = False
            self._seen.add(event.n)
            # A kill at a write doubles no row: an equal text, such as "Done.", may be a new one.
            is_kept = self._at_a_write and not (event.gone or event.changed)
            known = set[str]() if is_kept else set(self._rows.values())
            added = tuple(row for row in event.added if row.digest not in known)
            event = msgspec.structs.replace(event, added=added)
        self._rows |= {row.id: row.digest for row in (*event.added, *event.changed)}
        for row_id in event.gone:
            self._rows.pop(row_id, None)
        return event
