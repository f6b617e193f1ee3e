"""A session store in PostgreSQL, for agents that run on more than one machine.

A write first locks its session, so two gateways take turns and rows are numbered in commit order.
The connection sets `synchronous_commit`: when a method returns, its rows are on disk. Rows are JSON
in `text`, because `jsonb` has no U+0000. The next call reopens a broken connection; the call that
met the break raises, as its commit is uncertain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import psycopg
from psycopg import sql

from harness.core.history.events import StoredRow
from harness.core.values.messages import Message
from harness.core.values.table_file import package_text
from harness.stores.session_store import store_rows
from harness.stores.sql_store import SqlStore, encode, statements

CONNECT_TIMEOUT_S = 10

_SCHEMA = package_text("harness.stores", "postgres.sql")
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_MAKING = "the tables of harness.stores.postgres"
"""The name of the lock under which the tables are made; `_LOCK` takes sessions by name too."""
_SQL = statements("session_", mark="%s", as_text="::text")
_INSERT = f"{_SQL['insert']} RETURNING id"

_Connection = psycopg.Connection[tuple[Any, ...]]
_Raw = tuple[str, str, str]

_decode_text = msgspec.json.Decoder(str).decode


class PostgresStore(SqlStore):
    """A `SessionStore` on PostgreSQL; safe for threads, processes and machines.

    `dsn` is a connection string or URI. The tables stand in `schema`, which is made if need be,
    else where the connection's search path says. A name or an id with U+0000 in it, which the
    server cannot hold, raises `psycopg.DataError`, and nothing is written.
    """

    name = "postgres"
    _SQL = _SQL

    def __init__(self, dsn: str, *, schema: str = "") -> None:
        super().__init__()
        self._dsn, self._schema = dsn, schema
        self._seen: dict[_Raw, tuple[StoredRow, Message]] = {}
        self._connection = self._connect()
        with self._writing(_MAKING) as db:
            if schema:
                name = sql.Identifier(schema)
                db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
            db.execute(_SCHEMA)

    def _connect(self) -> _Connection:
        db = psycopg.connect(self._dsn, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S)
        db.execute("SET synchronous_commit = on")
        db.execute("SET client_min_messages = warning")
        if self._schema:
            db.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(self._schema)))
        return db

    @property
    def _db(self) -> _Connection:
        if self._connection.closed:
            self._connection = self._connect()
        return self._connection

    @contextmanager
    def _writing(self, session: str) -> Iterator[_Connection]:
        """One durable transaction, alone on its session."""
        with self._lock:
            db = self._db
            with db.transaction():
                db.execute(_LOCK, (session,))
                yield db
                self.at_commit()

    def _insert(self, db: _Connection, session: str, message: Message, inbound: str = "") -> str:
        found = db.execute(_INSERT, (session, encode(message), inbound))
        return str(found.fetchall()[0][0])

    def _reply_column(self, text: str) -> str:
        return encode(text)

    def _reply_text(self, column: str) -> str:
        return _decode_text(column)

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row of every session in order; a row that was read before is not decoded again."""
        with self._lock:
            found = self._ask(self._SQL["every_row"])
            self._seen = {
                raw: self._seen.get(raw) or store_rows(self._rows([raw]))[0] for raw in found
            }
            return list(self._seen.values())

    def drop(self) -> None:
        """Remove the store's own schema with all that is in it: for a scratch store.

        Raises ValueError for a store without one: its tables may stand among others.
        """
        if not self._schema:
            raise ValueError("only a store with its own schema can be dropped")
        with self._lock:
            name = sql.Identifier(self._schema)
            self._db.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()
