"""A session store in one SQLite file.

Write-ahead logging lets a reader look while the agent writes. `synchronous=FULL` puts every commit
on disk. `BEGIN IMMEDIATE` takes the write lock first: two writers wait (`busy_timeout`), where a
deferred transaction would fail half way.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, Literal

import msgspec

from harness.core.history.events import StoredRow
from harness.core.values.messages import Message
from harness.core.values.table_file import package_text
from harness.stores.session_store import SessionRow, store_rows
from harness.stores.sql_store import SqlStore, decode_message, encode, statements

BUSY_TIMEOUT_MS = 5_000

UNNAMED = ""
"""This path names a database that only its connection sees, and that ends with it."""

_SCHEMA = package_text("harness.stores", "sqlite.sql")

_LATER = {
    "rows": {"inbound": "TEXT NOT NULL DEFAULT ''"},
    "inbounds": {
        "attempts": "INTEGER NOT NULL DEFAULT 1",
        "reply": "TEXT",
        "status": "TEXT NOT NULL DEFAULT ''",
        "kind": "TEXT NOT NULL DEFAULT ''",
        "delivered": "INTEGER NOT NULL DEFAULT 0",
    },
}
"""Columns that a file of an older version may lack."""

_Raw = tuple[str, ...]


class SqliteStore(SqlStore):
    """A `SessionStore` on SQLite; safe for the threads of one process and for processes."""

    name = "sqlite"
    _SQL = statements()

    def __init__(
        self, path: str | PathLike[str], *, synchronous: Literal["FULL", "OFF"] = "FULL"
    ) -> None:
        """Open the file, or make it; `UNNAMED` is none. With `OFF` a commit outlives the process,
        killed or not, but not a failure of the machine: right for a scratch file, and some ten
        times as fast."""
        super().__init__()
        self._seen: dict[_Raw, tuple[StoredRow, Message]] = {}
        self._seen_at: tuple[int, int] | None = None
        self._db = sqlite3.connect(fspath(path), isolation_level=None, check_same_thread=False)
        self._db.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        self._db.execute(f"PRAGMA synchronous={synchronous}")
        self._db.execute("PRAGMA journal_mode=WAL")
        is_new = not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        self._db.executescript(_SCHEMA)
        self._name = os.path.basename(fspath(path))
        self._unreadable: set[_Raw] = set()
        for table, columns in ({} if is_new else _LATER).items():
            self._add_columns(table, columns)

    def _add_columns(self, table: str, columns: dict[str, str]) -> None:
        """Bring a table of an older version up to date.

        Without a record of delivery every reply counts as delivered, so no message is answered
        again. A message without a reply stays open.
        """
        present = {name for _, name, *_ in self._db.execute(f"PRAGMA table_info({table})")}
        missing = [name for name in columns if name not in present]
        if not missing:
            return
        with self._writing() as db:
            for name in missing:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {columns[name]}")
            if "delivered" in missing:
                are_all = "TRUE" if "reply" in missing else "reply IS NOT NULL"
                db.execute(f"UPDATE inbounds SET delivered = 1 WHERE {are_all}")
        self.notes.append(f"{self._name}: an older file, {table} got {', '.join(missing)}")

    @contextmanager
    def _writing(self, session: str = "") -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self.at_commit()
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has ended it already
                    self._db.execute("ROLLBACK")
                raise

    def _insert(
        self, db: sqlite3.Connection, session: str, message: Message, inbound: str = ""
    ) -> str:
        return str(db.execute(self._SQL["insert"], (session, encode(message), inbound)).lastrowid)

    def _rows(self, found: Iterable[tuple[Any, ...]]) -> list[SessionRow]:
        """The readable rows; the others are named in `notes`, once."""
        rows: list[SessionRow] = []
        for raw in found:
            row_id, text, inbound = raw
            try:
                rows.append(SessionRow(str(row_id), decode_message(text), inbound))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if raw not in self._unreadable:
                    self._unreadable.add(raw)
                    self.notes.append(f"{self._name}: row {row_id} was left out: {error}")
        return rows

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row of every session in order. What has not changed since the last time is not
        decoded again, for the harness looks before every call."""
        with self._lock:
            version = self._db.execute("PRAGMA data_version").fetchone()[0]
            now = (version, self._db.total_changes)
            if now != self._seen_at:
                found: list[_Raw] = self._db.execute(self._SQL["every_row"]).fetchall()
                known = self._seen.get
                self._seen = {r: row for r in found if (row := known(r) or self._read_row(r))}
                self._seen_at = now
            return list(self._seen.values())

    def _read_row(self, raw: _Raw) -> tuple[StoredRow, Message] | None:
        return next(iter(store_rows(self._rows([raw]))), None)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._db.close()
