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
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec

from harness.core.values.plans import Raise, Step
from harness.stores.faulty_store import CarryOut, Medium, OwnWrite, WriteSteps
from harness.stores.session_facts import DeliveryFact, RowFact, decode, encode
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

_READING = {"EACCES": "unable to open database file"}
"""The words of SQLite when it cannot read; no condition outside makes it."""

_ROWS = "SELECT session, message, inbound FROM rows ORDER BY id"
_DELIVERED = "SELECT session, id FROM inbounds WHERE delivered ORDER BY n"

_OLDER = (
    "DROP TABLE summaries",
    "ALTER TABLE inbounds DROP COLUMN kind",
    "ALTER TABLE inbounds DROP COLUMN delivered",
)
"""What a file was like whose rows are messages and nothing else."""

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


class SqliteMedium(Medium):
    """What a `SqliteStore` writes on."""

    def __init__(self, store: SqliteStore, carry_out: CarryOut) -> None:
        self.store, self.plain_step, self._db = store, carry_out, store._db
        _, _, self.path = self._db.execute("PRAGMA database_list").fetchone()
        self._lazy: Any = _Lazy(self._db)
        vars(store)["_db"] = self._lazy
        (synchronous,) = self._db.execute("PRAGMA synchronous").fetchone()
        self._syncs = synchronous >= FULL
        self._synced = None if self._syncs else self._db.serialize()

    def error(self, name: str) -> sqlite3.OperationalError:
        """What SQLite says, never of a path, when it cannot read."""
        return sqlite3.OperationalError(_READING.get(name, "disk I/O error"))

    def records(self) -> list[bytes]:
        """The rows, then the deliveries."""
        with closing(sqlite3.connect(self.path)) as db:
            rows = [_record(*row) for row in db.execute(_ROWS)]
            delivered = [encode(DeliveryFact(*pair)) for pair in db.execute(_DELIVERED)]
        return rows + delivered

    def lay(self, records: Sequence[bytes]) -> None:
        """Put the records into the tables: torn, doubled, or in those of an older version."""
        facts = [_fact(record) for record in records if record != b"\n"]
        delivered = [(f.session, f.inbound) for f in facts if isinstance(f, DeliveryFact)]
        rows = [_columns(fact) for fact in facts if not isinstance(fact, DeliveryFact)]
        with closing(sqlite3.connect(self.path)) as db, db:
            db.execute("DELETE FROM rows")
            db.executemany(
                "INSERT INTO rows (id, session, message, inbound) VALUES (?, ?, ?, ?)",
                ((n, *columns) for n, columns in enumerate(rows, start=1)),
            )
            db.execute("UPDATE inbounds SET delivered = 0")
            db.executemany("UPDATE inbounds SET delivered = 1 WHERE session=? AND id=?", delivered)
            if records and not any(b'"fact"' in record for record in records):
                for statement in _OLDER:
                    db.execute(statement)

    def write_own(self, steps: WriteSteps, own: OwnWrite) -> Any:
        """Write as the steps say, in the condition that makes SQLite fail where they raise."""
        self.carry_out(takewhile(_is_quiet, steps.before))
        for record in steps.sent:
            if record not in own.records:
                self._written_by_another(record)
        self._keep(steps)

        def carried(at_commit: Callable[[], object]) -> Any:
            def inside() -> None:
                own.commit()
                self.carry_out(takewhile(_is_quiet, steps.inside))
                at_commit()

            self.store.at_commit = inside
            return own.call()

        if steps.raised:
            return CONDITIONS[steps.raised](Write(self._db, self.path, carried))
        result = carried(no_commit_hook)
        self.carry_out(takewhile(_is_quiet, steps.after))
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
        with closing(SqliteStore(self.path)) as rival:
            if fact.accepted is not None:
                rival.accept(fact.accepted, fact.message)
            else:
                rival.append(fact.session, fact.message, fact.inbound)

    def lose(self, unsynced: str) -> None:
        """Bring the file back to its last sync, in whichever order it was written."""
        if self._synced is None:
            return
        with open(self.path, "wb") as file:
            file.write(self._synced)
        for end in ("-wal", "-shm"):
            if os.path.exists(self.path + end):
                os.unlink(self.path + end)


def _is_quiet(step: Step) -> bool:
    """Whether it raises nothing. What a write raises comes of a condition, never from here."""
    return not isinstance(step, Raise)


def _record(session: str, message: str | bytes, inbound: str) -> bytes:
    """A row as a fact; a row that a damaged file left as bytes stays damaged."""
    if isinstance(message, bytes):
        return message + b"\n"
    fact = {"fact": "row", "session": session, "message": msgspec.Raw(message.encode())}
    return msgspec.json.encode({**fact, **({"inbound": inbound} if inbound else {})}) + b"\n"


def _fact(record: bytes) -> RowFact | DeliveryFact | bytes:
    """A record as a fact; an undecodable one stays bytes."""
    try:
        fact = decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return record
    return fact if isinstance(fact, RowFact | DeliveryFact) else record


def _columns(fact: RowFact | bytes) -> tuple[str, str | bytes, str]:
    if isinstance(fact, bytes):
        return "main", fact.rstrip(b"\n"), ""
    return fact.session, msgspec.json.encode(fact.message).decode(), fact.inbound
