"""The real files of stores under fault: SQLite, JSON Lines, and the opening of a damaged file.

In SQLite one write meets a real condition: another connection's lock, a file that may not grow, a
process limit. So class, text and code are SQLite's own. A machine failure takes what no sync has
reached. With `synchronous=FULL` every commit is synced. Otherwise the file goes back to its last
sync, or to its state at opening.

JSON Lines are real bytes, of which fewer arrive, and a sync that may be a lie. A machine failure
leaves what was synced, or, after out-of-order writes, the end of the rest after a hole of zeros.

The plan of an opening sends one record a row, in the form of `session_facts`. A changed plan
changes the file before it is read. Lines are written as they are; rows may be torn, doubled, or
from an older version of the tables.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.core.values.calls import StoreRequest
from harness.core.values.errors import InputError
from harness.core.values.plans import Raise, Step
from harness.stores.faulty_store import (
    Ask,
    CarryOut,
    FaultyStore,
    Medium,
    OwnWrite,
    WriteSteps,
    write_steps,
)
from harness.stores.jsonl import Disk, JsonlStore
from harness.stores.session_facts import DeliveryFact, RowFact, decode, encode
from harness.stores.session_store import SessionStore, no_commit_hook
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


_OF_A_PATH = frozenset({"EACCES", "ENOENT", "EROFS"})


class JsonlMedium(Medium, Disk):
    """The disk of a `JsonlStore`: it writes what the steps send, and syncs if they keep it."""

    def __init__(self, store: JsonlStore, carry_out: CarryOut) -> None:
        self.store, self.path, self.plain_step = store, store._path, carry_out
        store.disk = self
        self.steps = WriteSteps()
        self.synced_bytes = os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def records(self) -> list[bytes]:
        """The lines of the file; a torn last one is without its end."""
        data = Path(self.path).read_bytes() if os.path.exists(self.path) else b""
        *lines, torn = data.split(b"\n")
        return [line + b"\n" for line in lines] + ([torn] if torn else [])

    def lay(self, records: Sequence[bytes]) -> None:
        """Write the lines as they are."""
        Path(self.path).write_bytes(b"".join(records))

    def error(self, name: str) -> OSError:
        """The error of that name, with the system's own words. The path is told by its last part,
        for the folder of a run has another name each time."""
        number: int = getattr(errno, name)
        told = [os.path.basename(self.path)] if name in _OF_A_PATH else []
        return OSError(number, os.strerror(number), *told)

    def write_own(self, steps: WriteSteps, own: OwnWrite) -> Any:
        """Write what the steps send in place of the store's own."""
        self.carry_out(steps.before)
        self.steps, self.store.at_commit = steps, own.commit
        result = own.call()
        self.carry_out(steps.after)
        return result

    def write(self, descriptor: int, data: bytes) -> None:
        """Write what is sent, then carry out the steps that come before it counts."""
        super().write(descriptor, b"".join(self.steps.sent))
        self.carry_out(self.steps.inside)

    def sync(self, descriptor: int) -> None:
        """Sync, unless the disk only says so."""
        if self.steps.kept is None or self.steps.kept.how == "synced":
            super().sync(descriptor)
            self.synced_bytes = os.fstat(descriptor).st_size

    def lose(self, unsynced: str) -> None:
        """Cut off what is not synced; after out-of-order writes, the end of it stays."""
        with open(self.path, "rb+") as file:
            file.seek(self.synced_bytes)
            lost = file.read()
            file.truncate(self.synced_bytes)
            if unsynced == "reordered" and lost:
                hole = len(lost) // 2
                file.seek(self.synced_bytes)
                file.write(bytes(hole) + lost[hole:])


def open_faulty(
    store: SessionStore, reopened: Callable[[], SessionStore], ask: Ask, carry_out: CarryOut
) -> tuple[SessionStore, FaultyStore]:
    """The real store behind the seam, and the store as the agent gets it.

    `store` is the real one; `reopened` opens it again after its file was damaged. Raises what the
    store's library raises when it cannot be opened, and InputError for a store without a shim.
    """
    medium = _medium_of(store, carry_out)
    records = medium.records()
    plan = ask(StoreRequest("open", access="open", store=store.name), records, (), "")
    damaged = list(write_steps(plan).sent)
    if failed := next((step.error for step in plan if isinstance(step, Raise)), ""):
        store.close()
        raise medium.error(failed)
    if damaged != records:
        store.close()
        medium.lay(damaged)
        store = reopened()
        medium = _medium_of(store, carry_out)
    for step in plan:  # a wait, a jump, a kill; carrying out sends and answers does nothing
        carry_out(step)
    return store, FaultyStore(store, medium, ask)


def _medium_of(store: SessionStore, carry_out: CarryOut) -> Medium:
    match store:
        case JsonlStore():
            return JsonlMedium(store, carry_out)
        case SqliteStore():
            return SqliteMedium(store, carry_out)
    what = f"a fault on the store needs one of {JsonlStore.name}, {SqliteStore.name}"
    raise InputError(f"{what}, not {store.name}", "store")
