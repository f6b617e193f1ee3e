"""The stored session: what is there before the first message, and what changes in it.

A session to begin with is written into the store that the harness gives, and laid beside it as
`seed.jsonl` for agents that keep their own. `StoreWatch` looks at the store before each call and
records what is new, changed or gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.core.history.events import Stored, StoredRow
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario, SeedMessage
from harness.core.scenario.script import block_from
from harness.core.transition.ports import Store
from harness.core.transition.transition import Transition
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Block, Message, Text
from harness.runner.session_file import READ
from harness.stores.session_store import SessionStore
from harness.stores.store_options import (
    OpenStore,
    drop_scratch,
    open_postgres,
    open_scratch,
    open_store,
    open_unshared,
)
from harness.transports.dispatcher import Dispatcher

SESSION = "main"


def seed_messages(scenario: Scenario) -> list[Message]:
    """The messages that are stored before the first inbound one.

    Raises InputError for a session file that cannot be read.
    """
    session = scenario.session
    if session.file is None:
        return [_message(m) for m in session.messages]
    path = beside(scenario, session.file)
    place = f"{scenario.name}: session {path}"
    try:
        return READ[session.format or "jsonl"](path, place)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place) from None


def beside(scenario: Scenario, name: str) -> Path:
    """A file that a scenario names: from its own folder, or from where the command runs."""
    near = Path(scenario.folder) / name
    return near if near.exists() else Path(name)


def _message(message: SeedMessage) -> Message:
    if isinstance(message.content, str):
        blocks: tuple[Block, ...] = (Text(message.content),) if message.content else ()
        return Message(message.role, blocks)
    return Message(message.role, tuple(block_from(dict(b)) for b in message.content))


def lay_seed(folder: Path, messages: Sequence[Message]) -> None:
    """Lay a session to begin with as `seed.jsonl`, one message a line."""
    if messages:
        lines = b"".join(msgspec.json.encode(m) + b"\n" for m in messages)
        (folder / "seed.jsonl").write_bytes(lines)


class StoreWatch:
    """Looks at a store and records what changed since the last look.

    The first look is always recorded: an empty store is one that can be read. What is known
    already follows from the history, so a run that was killed goes on where it was.
    """

    def __init__(self, store: Store, history: History) -> None:
        self._store, self._history = store, history
        self._known = _known(history)

    def look(self, at_ms: int) -> None:
        """Record what is new, changed or gone; nothing when nothing is."""
        rows = self._store.read()
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
    """The digests of the rows by id, as the looks so far have seen them; None before the first."""
    looks = [event for event in history.events if isinstance(event, Stored)]
    known: dict[str, str] = {}
    for look in looks:
        known |= {row.id: row.digest for row in (*look.added, *look.changed)}
        known = {name: digest for name, digest in known.items() if name not in look.gone}
    return known if looks else None


class OwnStore:
    """The store of a brief: made, seeded and watched once the agent asks for it.

    Its kind is what the target's option `store` says. An agent that never asks has no store seam,
    and no check asks what it stored. `wrap` is put around the store for the agent, `opener` opens
    it in place of `open_scratch`.
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

    def open(self, door: Dispatcher) -> SessionStore:
        """The store, with the session to begin with in it; one that may fail, where a fault is
        armed on it. Raises what a store raises that cannot be opened."""
        store, given = self._opened(door)
        self._store, history = store, self._transition.history
        watch = StoreWatch(store, history)
        self._transition.look = watch.look
        watch.look(history.events[-1].at_ms)
        return self._wrap(given) if self._wrap else given

    def _opened(self, door: Dispatcher) -> tuple[SessionStore, Any]:
        """The store behind the seam, and as the agent gets it."""
        store = self._real()
        if self._messages and not store.read():
            store.seed(SESSION, self._messages)
        if not self._transition.store_is_faulty:
            return store, store
        from harness.stores.shim.damaged_file import open_faulty

        return open_faulty(store, self._real, door.store, door.carry_out)

    def _real(self) -> SessionStore:
        """The store behind the seam. One that may fail is opened as for good, for what is synced
        makes a difference then."""
        opener = self._opener
        if self._transition.store_is_faulty and opener in (open_scratch, open_unshared):
            opener = open_store
        return opener(self._options, self._folder)

    def close(self, keep: bool = False) -> None:
        """Let go of the file; a schema on a server goes too, unless it is to be kept."""
        if self._store is not None:
            if not keep:
                drop_scratch(self._store)
            self._store.close()


def _sqlite(path: Path) -> Any:
    from harness.stores.sqlite import SqliteStore

    return SqliteStore(path, synchronous="OFF")


def _jsonl(path: Path) -> Any:
    from harness.stores.store_readers import MessageLines

    return MessageLines(path)


def _claude_code_store(path: Path) -> Any:
    from harness.stores.claude_code_store import ClaudeCodeStore

    return ClaudeCodeStore(path)


def _hermes_store(path: Path) -> Any:
    from harness.stores.hermes_store import HermesStore

    return HermesStore(path)


READERS: dict[str, Callable[[Path], Any]] = {
    "sqlite": _sqlite,
    "jsonl": _jsonl,
    "claude_code": _claude_code_store,
    "hermes": _hermes_store,
}


def open_reader(spec: str, folder: Path) -> Store:
    """The store that `READER:PATH` names, below the session folder, or `postgres:DSN`.

    Raises InputError for an unknown reader.
    """
    reader, _, name = spec.partition(":")
    if reader == "postgres" and name:
        return open_postgres(name)
    if reader not in READERS or not name:
        hint = nearest(reader, [*READERS, "postgres"])
        raise InputError(f"a store is READER:PATH; {hint}", f"store {spec!r}")
    store: Store = READERS[reader](folder / name)
    return store
