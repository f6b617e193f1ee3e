"""Watches the stored session during a run: the store of a brief, and its changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.core.history.events import Stored, StoredRow
from harness.core.history.history import History
from harness.core.transition.ports import Store
from harness.core.transition.transition import Transition
from harness.core.values.messages import Message
from harness.runner.row_places import in_their_places
from harness.stores.opening import (
    OpenStore,
    drop_scratch,
    open_reader,
    open_scratch,
    open_store,
    open_unshared,
)
from harness.stores.session_store import SessionStore
from harness.transports.dispatcher import Dispatcher

_SESSION = "main"
"""The session that holds the seed."""


def watch_store(transition: Transition, spec: str, folder: Path) -> None:
    """Look at the agent's own store before each call, if READER:PATH names one."""
    if spec:
        transition.look = StoreWatch(open_reader(spec, folder), transition.history).look


class StoreWatch:
    """Looks at a store and records the changes since the last look.

    The first look is always recorded, because an empty store is a readable one. The known rows
    follow from the history, so a killed run continues from them.
    """

    def __init__(self, store: Store, history: History) -> None:
        self._store, self._history = store, history
        self._known = _known(history)

    def look(self, at_ms: int) -> None:
        """Record new, changed and removed rows, if there are any."""
        rows = self._store.read()
        if getattr(self._store, "by_place", False):
            rows = in_their_places(rows, self._known or {})
        present = {row.id: row.digest for row, _ in rows}
        if present == self._known:
            return
        known = self._known or {}
        added = tuple(self._noted(r, m, at_ms) for r, m in rows if r.id not in known)
        changed = tuple(
            self._noted(r, m, at_ms) for r, m in rows if r.id in known and known[r.id] != r.digest
        )
        gone = tuple(name for name in known if name not in present)
        self._known = present
        self._history.stored(
            at_ms=at_ms, store=self._store.name, added=added, changed=changed, gone=gone
        )

    def _noted(self, row: StoredRow, message: Message, at_ms: int) -> StoredRow:
        return msgspec.structs.replace(row, digest=self._history.note(message, at_ms))


def _known(history: History) -> dict[str, str] | None:
    """Return the row digests by id from the looks so far; None before the first look."""
    looks = [event for event in history.events if isinstance(event, Stored)]
    known: dict[str, str] = {}
    for look in looks:
        known |= {row.id: row.digest for row in (*look.added, *look.changed)}
        known = {name: digest for name, digest in known.items() if name not in look.gone}
    return known if looks else None


class OwnStore:
    """The store of a brief: made, seeded and watched when the agent asks for it.

    The target's option `store` gives its kind. An agent that does not ask for it has no store seam,
    and no check applies to its store. `wrap` wraps the store for the agent; `opener` opens it in
    place of `open_scratch`.
    """

    def __init__(
        self,
        transition: Transition,
        folder: Path,
        messages: Sequence[Message],
        options: Mapping[str, Any],
        wrap: Callable[[SessionStore], SessionStore] | None = None,
        opener: OpenStore = open_scratch,
    ) -> None:
        self._transition, self._folder, self._options = transition, folder, options
        self._messages, self._wrap, self._opener = messages, wrap, opener
        self._store: SessionStore | None = None

    def open(self, dispatcher: Dispatcher) -> SessionStore:
        """Return the store with the initial session; with an armed fault, a store that may fail.

        Raises the store's own error if it cannot be opened."""
        store, given = self._opened(dispatcher)
        self._transition.files = tuple  # the session is behind the seam, with faults of that seam
        self._store, history = store, self._transition.history
        watch = StoreWatch(store, history)
        self._transition.look = watch.look
        watch.look(history.events[-1].at_ms)
        return self._wrap(given) if self._wrap else given

    def _opened(self, dispatcher: Dispatcher) -> tuple[SessionStore, Any]:
        """Return the store behind the seam, and the store that the agent gets."""
        store = self._real()
        # A later life of the agent finds the session as the one before has left it.
        if self._messages and not store.read():
            store.seed(_SESSION, self._messages)
        if not self._transition.is_faulty("store"):
            return store, store
        from harness.stores.faulty_files import open_faulty

        return open_faulty(store, self._real, dispatcher.store, dispatcher.carry_out)

    def _real(self) -> SessionStore:
        """Open the store behind the seam; durably if it may fail, because sync matters then."""
        opener = self._opener
        if self._transition.is_faulty("store") and opener in (open_scratch, open_unshared):
            opener = open_store
        return opener(self._options, self._folder)

    def close(self, keep: bool = False) -> None:
        """Close the file; remove a schema on a server too, unless `keep`."""
        if self._store is not None:
            if not keep:
                drop_scratch(self._store)
            self._store.close()
