"""SQLite under fault: locks, room and commits of a real file.

One write meets a real condition: another connection's lock, a file that may not grow, a process
limit. So class, text and code are SQLite's own. A machine failure takes what no sync has reached.
With `synchronous=FULL` every commit is synced. Otherwise the file goes back to its last sync, or to
its state at opening.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from harness.core.values.plans import Raise, Step
from harness.stores.faulty_store import CarryOut, OwnWrite, WriteSteps, unsynced_loss
from harness.stores.session_facts import RowFact, decode
from harness.stores.session_store import no_commit_hook
from harness.stores.sqlite import SqliteStore

NO_PAGE_LIMIT = 2**31 - 1


class Write(NamedTuple):
    """A write of a store. `call(at_commit)` does it; `at_commit` runs when all of it is said."""

    db: sqlite3.Connection
    path: str
    call: Callable[[Callable[[], object]], Any]


def other(path: str) -> sqlite3.Connection:
    """Another connection to the file, as another process has one; it never waits for a lock."""
    return sqlite3.connect(path, isolation_level=None, timeout=0)


def busy(write: Write) -> Any:
    """Another process holds the write lock, for longer than anybody waits: SQLITE_BUSY."""
    (timeout_ms,) = write.db.execute("PRAGMA busy_timeout").fetchone()
    with closing(other(write.path)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        write.db.execute("PRAGMA busy_timeout=0")
        try:
            return write.call(no_commit_hook)
        finally:
            write.db.execute(f"PRAGMA busy_timeout={timeout_ms}")
            holder.execute("ROLLBACK")


def busy_snapshot(write: Write) -> Any:
    """A transaction that has read wants to write, and another has written: SQLITE_BUSY_SNAPSHOT."""
    with closing(other(write.path)) as reader, closing(other(write.path)) as writer:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (version,) = writer.execute("PRAGMA user_version").fetchone()
        writer.execute(f"PRAGMA user_version={version}")
        reader.execute(f"PRAGMA user_version={version}")


def full(write: Write) -> Any:
    """The file may not grow, and the write needs room: SQLITE_FULL."""
    (pages,) = write.db.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = write.db.execute("PRAGMA page_size").fetchone()
    write.db.execute(f"PRAGMA max_page_count={pages}")
    grow = "INSERT INTO rows (session, message) VALUES ('', zeroblob(?))"
    try:
        return write.call(lambda: write.db.execute(grow, (4 * pages * page_bytes,)))
    finally:
        write.db.execute(f"PRAGMA max_page_count={NO_PAGE_LIMIT}")


def io_error(write: Write) -> Any:
    """The machine refuses every byte of the commit: SQLITE_IOERR_WRITE."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        return write.call(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def read_only(write: Write) -> Any:
    """The file can be read and not written: SQLITE_READONLY."""
    write.db.execute("PRAGMA query_only=ON")
    try:
        return write.call(no_commit_hook)
    finally:
        write.db.execute("PRAGMA query_only=OFF")


def cannot_open(write: Write) -> Any:
    """A file of the database cannot be opened: SQLITE_CANTOPEN."""
    other(f"{write.path}/no-folder").close()


CONDITIONS: dict[str, Callable[[Write], Any]] = {
    "busy": busy,
    "busy_snapshot": busy_snapshot,
    "ENOSPC": full,
    "EDQUOT": io_error,
    "EFBIG": io_error,
    "EIO": io_error,
    "EROFS": read_only,
    "EACCES": cannot_open,
}
"""What brings each error about."""

_READING = {"EIO": "disk I/O error", "EACCES": "unable to open database file"}


def read_error(name: str, path: str = "") -> sqlite3.OperationalError:
    """What SQLite says, never of a path, when it cannot read; no condition outside makes it."""
    return sqlite3.OperationalError(_READING.get(name, "disk I/O error"))


FULL = 2
"""`PRAGMA synchronous`: every commit is synced."""


class _Lazy:
    """A connection that ends a transaction only when it is told to."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db, self.commits = db, True

    def execute(self, statement: str, *values: Any) -> Any:
        joined = statement == "BEGIN IMMEDIATE" and self._db.in_transaction
        if joined or (statement == "COMMIT" and not self.commits):
            return None
        return self._db.execute(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


class SqliteMedium:
    """What a `SqliteStore` writes on."""

    def __init__(self, store: SqliteStore, path: str, carry_out: CarryOut) -> None:
        self._store, self._path, self._carry_out = store, path, carry_out
        self._db = store._db
        self._lazy: Any = _Lazy(self._db)
        vars(store)["_db"] = self._lazy
        (synchronous,) = self._db.execute("PRAGMA synchronous").fetchone()
        self._syncs = synchronous >= FULL
        self._synced = None if self._syncs else self._db.serialize()

    def read(self, steps: WriteSteps, call: Callable[[], Any]) -> Any:
        """Read, unless the disk cannot."""
        self._steps(steps.before)
        if steps.raised:
            raise read_error(steps.raised)
        result = call()
        self._steps(steps.after)
        return result

    def write(self, steps: WriteSteps, own: OwnWrite) -> Any:
        """Write as the steps say, in the condition that makes SQLite fail where they raise."""
        self._steps(steps.before)
        for record in steps.sent:
            if record not in own.records:
                self._written_by_another(record)
        self._keep(steps)

        def carried(at_commit: Callable[[], object]) -> Any:
            def inside() -> None:
                own.commit()
                self._steps(steps.inside)
                at_commit()

            self._store.at_commit = inside
            return own.call()

        if steps.raised:
            return CONDITIONS[steps.raised](Write(self._db, self._path, carried))
        result = carried(no_commit_hook)
        self._steps(steps.after)
        return result

    def _keep(self, steps: WriteSteps) -> None:
        how = steps.kept.how if steps.kept else "synced"
        self._lazy.commits = how != "uncommitted"
        if how == "unsynced" and self._synced is None:
            self._synced = self._db.serialize()
        elif how == "synced" and self._syncs:
            self._synced = None

    def _written_by_another(self, record: bytes) -> None:
        """A second process writes a row, or takes the same message in first."""
        fact = decode(record)
        assert isinstance(fact, RowFact), fact
        with closing(SqliteStore(self._path)) as rival:
            if fact.accepted is not None:
                rival.accept(fact.accepted, fact.message)
            else:
                rival.append(fact.session, fact.message, fact.inbound)

    def _steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, Raise):
                return
            if unsynced_loss(step):
                self._lose()
            self._carry_out(step)

    def _lose(self) -> None:
        if self._synced is None:
            return
        with open(self._path, "wb") as file:
            file.write(self._synced)
        for end in ("-wal", "-shm"):
            if os.path.exists(self._path + end):
                os.unlink(self._path + end)


def path_of(store: SqliteStore) -> str:
    """Where the store's file is."""
    _, _, path = store._db.execute("PRAGMA database_list").fetchone()
    return str(path)
