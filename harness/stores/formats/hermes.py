"""hermes' `state.db`, read and never written: while the agent runs, and as a recording afterwards.

The agent keeps the database in WAL mode, so its last writes stand in `state.db-wal`. Read-only mode
sees them and may leave an index (`-shm`). A file without a log, which no process has open, is read
as it lies, so nothing is written beside it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

from harness.core.history.events import StoredRow
from harness.core.transition.ports import Store
from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message
from harness.recordings.readers import hermes as log
from harness.recordings.transcripts import Recording
from harness.stores.plain_tables import columns, opened
from harness.stores.session_store import stored_row

_SESSIONS = ("id", "model", "system_prompt")


def hermes(path: Path) -> Store:
    """The database of a hermes agent."""
    return HermesStore(path)


class HermesStore:
    """A `Store` over the database of a hermes agent; a file that is not there is empty.

    A row's id is the database's, and the inbound message is that of the platform.
    """

    name = "hermes"

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)
        self._seen: dict[tuple[Json, ...], tuple[StoredRow, Message]] = {}

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every active row of every session in order. What has not changed since the last time is
        not read again, for the harness looks before every call. Raises InputError for a file that
        is not a database."""
        if not self._path.exists() or not self._path.stat().st_size:
            return []
        with opened(self._path, live=True) as db:
            if not columns(db, "messages"):
                return []
            found = {tuple(row.values()): row for row in _rows(db) if log.is_active(row)}
        self._seen = {raw: self._seen.get(raw) or _stored(row) for raw, row in found.items()}
        return list(self._seen.values())


def read_database(path: str | PathLike[str]) -> Recording:
    """The sessions of a database; raises InputError when it is not a database of hermes."""
    if not is_database(Path(path)):
        raise InputError("cannot be read as a SQLite database", str(path))
    with opened(Path(path), live=_has_log(Path(path))) as db:
        for table in ("sessions", "messages"):
            if not columns(db, table):
                raise InputError(f"a SQLite database without hermes' table `{table}`", str(path))
        return log.recording(_rows(db), _select(db, "sessions", _SESSIONS, "id"))


def is_database(path: Path) -> bool:
    """Whether a file is a SQLite database by its first bytes; False where it cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return regular and log.is_hermes(file.read(len(log.MAGIC)))
    except OSError:
        return False


def _has_log(path: Path) -> bool:
    beside = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    return any(file.exists() and file.stat().st_size for file in beside)


def _rows(db: sqlite3.Connection) -> Iterator[Mapping[str, Json]]:
    return _select(db, "messages", log.COLUMNS, "id")


def _select(
    db: sqlite3.Connection, table: str, wanted: Sequence[str], order: str
) -> Iterator[Mapping[str, Json]]:
    """The rows of a table, one at a time, with the wanted columns that it has."""
    held = columns(db, table)
    if order not in held:
        raise InputError(f"hermes' table has no column `{order}`", table)
    names = ", ".join(name for name in wanted if name in held)
    for row in db.execute(f"SELECT {names} FROM {table} ORDER BY {order}"):
        yield dict(row)


def _stored(row: Mapping[str, Json]) -> tuple[StoredRow, Message]:
    message = log.message(row)
    inbound = row.get("platform_message_id")
    kept = inbound if isinstance(inbound, str) and message.role == "user" else ""
    return stored_row(str(row["id"]), message, kept)
