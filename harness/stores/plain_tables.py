"""Another program's SQLite database: opened to read, and its plain tables alone.

The database is untrusted: a view could run anything, so none is read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from harness.core.values.errors import InputError
from harness.recordings.session_log import MAX_LINE_BYTES

BUSY_S = 5.0


@contextmanager
def opened(path: Path, live: bool) -> Iterator[sqlite3.Connection]:
    """A read connection; SQLite's error for a damaged file becomes an InputError."""
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{'' if live else '&immutable=1'}"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S)) as db:
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE_BYTES)
            db.text_factory = lambda data: data.decode("utf-8", "replace")
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA trusted_schema = OFF")
            db.execute("PRAGMA query_only = ON")
            yield db
    except InputError as error:
        place = error.place if error.place.startswith(str(path)) else f"{path}: {error.place}"
        raise InputError(error.reason, place, more=error.more) from None
    except sqlite3.Error as error:
        what = "cannot be read as a SQLite database"
        raise InputError(what, str(path), more=str(error)) from None


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
