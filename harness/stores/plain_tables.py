"""Another program's SQLite database: opened to read, and its plain tables alone.

The database is untrusted: a view could run anything, so none is read.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from harness.core.values.errors import InputError
from harness.recordings.session_log import MAX_LINE_BYTES
from harness.recordings.tables import MAGIC, Row

BUSY_S = 5.0


@contextmanager
def opened(path: Path, live: bool) -> Iterator[sqlite3.Connection]:
    """A read connection; SQLite's error for a damaged file becomes an InputError."""
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{'' if live else '&immutable=1'}"
    with _in_words(str(path)), closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S)) as db:
        _distrust(db)
        yield db


@contextmanager
def tables_in(data: bytes) -> Iterator[PlainTables]:
    """The tables of a database's bytes, in memory; raises InputError for other bytes."""
    if not data.startswith(MAGIC):
        raise InputError("cannot be read as a SQLite database", "the database")
    with _in_words("the database"), closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(data)
        _distrust(db)
        yield PlainTables(db)


@contextmanager
def _in_words(place: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        where = error.place if error.place.startswith(place) else f"{place}: {error.place}"
        raise InputError(error.reason, where, more=error.more) from None
    except (sqlite3.Error, OverflowError) as error:
        what = "cannot be read as a SQLite database"
        raise InputError(what, place, more=str(error)) from None


def _distrust(db: sqlite3.Connection) -> None:
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE_BYTES)
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA query_only = ON")


def is_database(path: Path) -> bool:
    """Whether a file is a SQLite database by its first bytes; False where it cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@contextmanager
def tables_of(path: Path) -> Iterator[PlainTables]:
    """The tables of a program's database, as a recording; raises InputError for another file.

    Its last writes may stand in a log beside it. A file without a log, which no process has open,
    is read as it lies, so nothing is written beside it.
    """
    if not is_database(path):
        raise InputError("cannot be read as a SQLite database", str(path))
    with opened(path, live=_has_log(path)) as db:
        yield PlainTables(db)


def _has_log(path: Path) -> bool:
    beside = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    return any(file.exists() and file.stat().st_size for file in beside)


class PlainTables:
    """`Tables` over a connection."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def is_empty(self) -> bool:
        """Whether no table is there yet."""
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table'"
        return self._db.execute(query).fetchone() is None

    def columns(self, table: str) -> Sequence[str]:
        """The columns of a plain table; none for a view, and for a table that is not there."""
        return columns(self._db, table)

    def rows(self, table: str, wanted: Sequence[str], order: Sequence[str]) -> Iterator[Row]:
        """The rows of a table, one at a time, with the wanted columns that it has."""
        held = self.columns(table)
        for name in order:
            if name not in held:
                raise InputError(f"the table has no column `{name}`", table)
        chosen = ", ".join(quoted(name) for name in wanted if name in held)
        by = ", ".join(map(quoted, order))
        for row in self._db.execute(f"SELECT {chosen} FROM {quoted(table)} ORDER BY {by}"):
            yield dict(row)


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a plain table; none for a view, and for a table that is not there."""
    query = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE"
    found = db.execute(query, (table,)).fetchone()
    if found is None or not str(found[0]).upper().startswith("CREATE TABLE"):
        return []
    return [str(row["name"]) for row in db.execute(f"PRAGMA table_info({quoted(table)})")]


def quoted(name: str) -> str:
    """A name as SQL takes any."""
    return '"' + name.replace('"', '""') + '"'
