"""The conditions in which SQLite fails, brought about for one write.

Each takes the store's connection, the path of its file and the write, and calls the write while
the condition holds: a lock that another connection has, a file that may not grow, a limit of the
process. So class, text and code are SQLite's own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

NO_PAGE_LIMIT = 2**31 - 1


class Write(NamedTuple):
    """A write of a store. `call(at_commit)` does it; `at_commit` runs when all of it is said."""

    db: sqlite3.Connection
    path: str
    call: Callable[[Callable[[], None]], Any]


def _nothing() -> None:
    """Nothing happens at the commit."""


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
            return write.call(_nothing)
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

    def outgrow() -> None:
        write.db.execute(grow, (4 * pages * page_bytes,))

    try:
        return write.call(outgrow)
    finally:
        write.db.execute(f"PRAGMA max_page_count={NO_PAGE_LIMIT}")


def io_error(write: Write) -> Any:
    """The machine refuses every byte of the commit: SQLITE_IOERR_WRITE."""
    with _no_bytes() as forbid:
        return write.call(forbid)


@contextmanager
def _no_bytes() -> Iterator[Callable[[], None]]:
    """Gives what forbids this process to write into files, until the block is left."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def read_only(write: Write) -> Any:
    """The file can be read and not written: SQLITE_READONLY."""
    write.db.execute("PRAGMA query_only=ON")
    try:
        return write.call(_nothing)
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


def read_error(name: str) -> sqlite3.OperationalError:
    """What SQLite says when it cannot read; no condition makes it do so from outside."""
    return sqlite3.OperationalError(_READING.get(name, "disk I/O error"))
