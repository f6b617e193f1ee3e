"""A session store in one SQLite file.

Write-ahead logging lets a reader look while the agent writes; `synchronous=FULL` makes a commit
mean that the row is on disk; `BEGIN IMMEDIATE` takes the write lock at the start, so two writers
wait for one another (`busy_timeout`) where a deferred transaction would fail half way.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Literal

import msgspec

from harness.core.history.events import StoredRow
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from harness.stores.session_store import (
    Pending,
    SessionRow,
    history_rows,
    no_commit_hook,
    store_rows,
)

BUSY_TIMEOUT_MS = 5_000

UNNAMED = ""
"""In the place of a path: a database that only its connection sees, and that goes with it."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL, message TEXT NOT NULL, inbound TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS rows_of_session ON rows (session, id);
CREATE TABLE IF NOT EXISTS inbounds (
    n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, id TEXT NOT NULL,
    inbound TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 1, reply TEXT,
    status TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT '',
    delivered INTEGER NOT NULL DEFAULT 0, UNIQUE (session, id));
CREATE TABLE IF NOT EXISTS summaries (
    n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL,
    message TEXT NOT NULL, first INTEGER NOT NULL);
"""

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

_EVERY_ROW = "SELECT id, message, inbound FROM rows ORDER BY id"
_Raw = tuple[str, ...]

_decode_message = msgspec.json.Decoder(Message).decode
_decode_inbound = msgspec.json.Decoder(Inbound).decode


def _encode(value: Message | Inbound) -> str:
    return msgspec.json.encode(value).decode()


class SqliteStore:
    """`rows.SessionStore` on SQLite; safe for the threads of one process and for processes."""

    name = "sqlite"

    def __init__(
        self, path: str | PathLike[str], *, synchronous: Literal["FULL", "OFF"] = "FULL"
    ) -> None:
        """Open the file, or make it; `UNNAMED` is none. With `OFF` a commit outlives the process,
        killed or not, but not a failure of the machine: right for a scratch file, and some ten
        times as fast."""
        self._lock = threading.RLock()
        self._seen: dict[_Raw, tuple[StoredRow, Message]] = {}
        self._seen_at: tuple[int, int] | None = None
        self.notes: list[str] = []
        self.at_commit: Callable[[], None] = no_commit_hook
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
        """Make a table of an older version one of this. Where it did not say whether a reply was
        delivered, all were: nobody is answered again for a new column. A message without a reply
        is open still."""
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
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on disk afterwards, or nothing."""
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

    def _ask(self, query: str, *values: str | int) -> list[tuple[str, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def seed(self, session: str, messages: Iterable[Message]) -> None:
        """Store messages of the past."""
        with self._writing() as db:
            for message in messages:
                _insert(db, session, message)

    def accept(self, inbound: Inbound, message: Message) -> bool:
        """Store an inbound message once; False when its id is known."""
        new = (
            "INSERT INTO inbounds (session, id, inbound) VALUES (?, ?, ?) "
            "ON CONFLICT (session, id) DO NOTHING"
        )
        with self._writing() as db:
            if not db.execute(new, (inbound.session, inbound.id, _encode(inbound))).rowcount:
                return False
            _insert(db, inbound.session, message, inbound.id)
        return True

    def append(self, session: str, message: Message, inbound: str = "") -> str:
        """Store a row and return its id."""
        with self._writing() as db:
            return _insert(db, session, message, inbound)

    def begin(self, inbound: Inbound) -> int:
        """Count that the turn of an accepted message begins again."""
        key = (inbound.session, inbound.id)
        with self._writing() as db:
            db.execute("UPDATE inbounds SET attempts = attempts + 1 WHERE session=? AND id=?", key)
            found = db.execute("SELECT attempts FROM inbounds WHERE session=? AND id=?", key)
            return int(found.fetchone()[0])

    def reply(self, inbound: Inbound, message: Message, status: str, kind: str) -> str:
        """Store the reply to an accepted message."""
        with self._writing() as db:
            db.execute(
                "UPDATE inbounds SET reply=?, status=?, kind=? WHERE session=? AND id=?",
                (message.text, status, kind, inbound.session, inbound.id),
            )
            return _insert(db, inbound.session, message)

    def delivered(self, inbound: Inbound) -> None:
        """Note that the reply has left."""
        with self._writing() as db:
            db.execute(
                "UPDATE inbounds SET delivered=1 WHERE session=? AND id=?",
                (inbound.session, inbound.id),
            )

    def pending(self) -> Sequence[Pending]:
        """The accepted messages whose turns are not over."""
        open_turns = self._ask(
            "SELECT inbound, attempts, reply, status, kind FROM inbounds WHERE NOT delivered "
            "ORDER BY n"
        )
        return [
            Pending(_decode_inbound(inbound), int(attempts), reply, status, kind)
            for inbound, attempts, reply, status, kind in open_turns
        ]

    def summarise(self, session: str, summary: Message, first: str) -> None:
        """The session's history begins with `summary` and the row `first` from now on."""
        with self._writing() as db:
            db.execute(
                "INSERT INTO summaries (session, message, first) VALUES (?, ?, ?)",
                (session, _encode(summary), int(first)),
            )

    def load(self, session: str) -> list[SessionRow]:
        """The session's history, from its last summary on."""
        last = self._ask(
            "SELECT message, first FROM summaries WHERE session=? ORDER BY n DESC LIMIT 1", session
        )
        summary = (_decode_message(last[0][0]), str(last[0][1])) if last else None
        return history_rows(self.rows(session), summary)

    def rows(self, session: str) -> list[SessionRow]:
        """Every row of the session."""
        return self._rows(
            self._ask("SELECT id, message, inbound FROM rows WHERE session=? ORDER BY id", session)
        )

    def _rows(self, found: Iterable[_Raw]) -> list[SessionRow]:
        """The rows that can be read; the others are named in `notes`, once."""
        rows: list[SessionRow] = []
        for raw in found:
            row_id, text, inbound = raw
            try:
                rows.append(SessionRow(str(row_id), _decode_message(text), inbound))
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
                found: list[_Raw] = self._db.execute(_EVERY_ROW).fetchall()
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


def _insert(db: sqlite3.Connection, session: str, message: Message, inbound: str = "") -> str:
    row = db.execute(
        "INSERT INTO rows (session, message, inbound) VALUES (?, ?, ?)",
        (session, _encode(message), inbound),
    )
    return str(row.lastrowid)
