"""What is stored, told from what a fault did to the files while nobody had them open.

A damaged opening shows in the next look at the store: rows are gone, moved, or there twice. That is
the disk's doing. Rows that only such a look shows again are not added by anybody.
"""

from __future__ import annotations

import msgspec

from harness.core.calls import StoreRequest
from harness.core.events import Answered, Called, Stored


class Damages:
    """Follows the store's openings and writes; `seen` are the looks that show a damage."""

    def __init__(self, seen: set[int]) -> None:
        self._seen = seen
        self._rows: dict[str, str] = {}
        self._opening = ""
        self._is_damaged = False

    def called(self, called: Called, request: StoreRequest) -> None:
        """The agent opens the store, reads, or writes: what is seen after that is its own."""
        if request.access == "open":
            self._opening = called.key
        elif request.access == "write":
            self._is_damaged = False

    def answered(self, answered: Answered) -> None:
        """An opening was answered, by a fault perhaps."""
        if answered.key == self._opening:
            self._is_damaged = bool(answered.faults)

    def stored(self, event: Stored) -> Stored:
        """What the store holds now, without rows that only damage shows again."""
        if self._is_damaged:
            self._is_damaged = False
            self._seen.add(event.n)
            known = set(self._rows.values())
            added = tuple(row for row in event.added if row.digest not in known)
            event = msgspec.structs.replace(event, added=added)
        self._rows |= {row.id: row.digest for row in (*event.added, *event.changed)}
        for row_id in event.gone:
            self._rows.pop(row_id, None)
        return event
