"""A session store in PostgreSQL, for agents that run on more than one machine.

A write is one transaction that first takes a lock on its session, so that two gateways on one
session wait for one another and rows get their numbers in the order in which they are committed.
`synchronous_commit` is switched on for the connection, whatever the server's default is: a method
that has returned has written. Rows are JSON in `text`, not `jsonb`, which has no U+0000. A
connection that broke is opened again by the next call; the call that met the break raises, for
nobody knows whether its commit went through.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import psycopg
from psycopg import sql

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

CONNECT_TIMEOUT_S = 10

_SCHEMA = """
CREATE TABLE IF NOT EXISTS session_rows (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text NOT NULL, message text NOT NULL, inbound text NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS session_rows_of_session ON session_rows (session, id);
CREATE TABLE IF NOT EXISTS session_inbounds (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session text NOT NULL, id text NOT NULL,
    inbound text NOT NULL, attempts integer NOT NULL DEFAULT 1, reply text,
    status text NOT NULL DEFAULT '', kind text NOT NULL DEFAULT '',
    delivered boolean NOT NULL DEFAULT false, UNIQUE (session, id));
CREATE TABLE IF NOT EXISTS session_summaries (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session text NOT NULL,
    message text NOT NULL, first bigint NOT NULL);
"""
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_MAKING = "the tables of harness.stores.postgres"
_TURN = "session = %s AND id = %s"

_Connection = psycopg.Connection[tuple[Any, ...]]
_Raw = tuple[str, str, str]

_decode_message = msgspec.json.Decoder(Message).decode
_decode_inbound = msgspec.json.Decoder(Inbound).decode
_decode_text = msgspec.json.Decoder(str).decode


def _encode(value: Message | Inbound | str) -> str:
    return msgspec.json.encode(value).decode()


class PostgresStore:
    """`rows.SessionStore` on PostgreSQL; safe for threads, processes and machines.

    `dsn` is a connection string or URI. The tables stand in `schema`, which is made if need be,
    else where the connection's search path says. A name or an id with U+0000 in it, which the
    server cannot hold, raises `psycopg.DataError`, and nothing is written.
    """

    name = "postgres"

    def __init__(self, dsn: str, *, schema: str = "") -> None:
        self._dsn, self._schema = dsn, schema
        self._lock = threading.RLock()
        self._seen: dict[_Raw, tuple[StoredRow, Message]] = {}
        self.notes: list[str] = []
        self.at_commit: Callable[[], None] = no_commit_hook
        self._connection = self._connect()
        self._make_tables()

    def _connect(self) -> _Connection:
        db = psycopg.connect(self._dsn, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S)
        db.execute("SET synchronous_commit = on")
        db.execute("SET client_min_messages = warning")
        if self._schema:
            db.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(self._schema)))
        return db

    def _make_tables(self) -> None:
        with self._writing(_MAKING) as db:
            if self._schema:
                name = sql.Identifier(self._schema)
                db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
            db.execute(_SCHEMA)

    @property
    def _db(self) -> _Connection:
        """The connection, a new one when the last one broke."""
        if self._connection.closed:
            self._connection = self._connect()
        return self._connection

    @contextmanager
    def _writing(self, session: str) -> Iterator[_Connection]:
        """One transaction, alone on its session: all of it is on disk afterwards, or nothing."""
        with self._lock:
            db = self._db
            with db.transaction():
                db.execute(_LOCK, (session,))
                yield db
                self.at_commit()

    def _ask(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def seed(self, session: str, messages: Iterable[Message]) -> None:
        """Store messages of the past."""
        with self._writing(session) as db:
            for message in messages:
                _insert(db, session, message)

    def accept(self, inbound: Inbound, message: Message) -> bool:
        """Store an inbound message once; False when its id is known."""
        new = (
            "INSERT INTO session_inbounds (session, id, inbound) VALUES (%s, %s, %s) "
            "ON CONFLICT (session, id) DO NOTHING"
        )
        with self._writing(inbound.session) as db:
            if not db.execute(new, (inbound.session, inbound.id, _encode(inbound))).rowcount:
                return False
            _insert(db, inbound.session, message, inbound.id)
        return True

    def append(self, session: str, message: Message, inbound: str = "") -> str:
        """Store a row and return its id."""
        with self._writing(session) as db:
            return _insert(db, session, message, inbound)

    def begin(self, inbound: Inbound) -> int:
        """Count that the turn of an accepted message begins again."""
        again = f"UPDATE session_inbounds SET attempts = attempts + 1 WHERE {_TURN} "
        with self._writing(inbound.session) as db:
            key = (inbound.session, inbound.id)
            [(attempts,)] = db.execute(again + "RETURNING attempts", key)
            return int(attempts)

    def reply(self, inbound: Inbound, message: Message, status: str, kind: str) -> str:
        """Store the reply to an accepted message."""
        ends = f"UPDATE session_inbounds SET reply = %s, status = %s, kind = %s WHERE {_TURN}"
        values = (_encode(message.text), status, kind, inbound.session, inbound.id)
        with self._writing(inbound.session) as db:
            db.execute(ends, values)
            return _insert(db, inbound.session, message)

    def delivered(self, inbound: Inbound) -> None:
        """Note that the reply has left."""
        left = f"UPDATE session_inbounds SET delivered = true WHERE {_TURN}"
        with self._writing(inbound.session) as db:
            db.execute(left, (inbound.session, inbound.id))

    def pending(self) -> Sequence[Pending]:
        """The accepted messages whose turns are not over."""
        open_turns = self._ask(
            "SELECT inbound, attempts, reply, status, kind FROM session_inbounds "
            "WHERE NOT delivered ORDER BY n"
        )
        return [
            Pending(
                _decode_inbound(inbound),
                attempts,
                None if reply is None else _decode_text(reply),
                status,
                kind,
            )
            for inbound, attempts, reply, status, kind in open_turns
        ]

    def summarise(self, session: str, summary: Message, first: str) -> None:
        """The session's history begins with `summary` and the row `first` from now on."""
        new = "INSERT INTO session_summaries (session, message, first) VALUES (%s, %s, %s)"
        with self._writing(session) as db:
            db.execute(new, (session, _encode(summary), int(first)))

    def load(self, session: str) -> list[SessionRow]:
        """The session's history, from its last summary on."""
        last = self._ask(
            "SELECT message, first::text FROM session_summaries WHERE session = %s "
            "ORDER BY n DESC LIMIT 1",
            session,
        )
        summary = (_decode_message(last[0][0]), last[0][1]) if last else None
        return history_rows(self.rows(session), summary)

    def rows(self, session: str) -> list[SessionRow]:
        """Every row of the session."""
        return _rows(
            self._ask(
                "SELECT id::text, message, inbound FROM session_rows WHERE session = %s "
                "ORDER BY session_rows.id",
                session,
            )
        )

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row of every session in order; a row that was read before is not decoded again."""
        with self._lock:
            found = self._ask(
                "SELECT id::text, message, inbound FROM session_rows ORDER BY session_rows.id"
            )
            self._seen = {raw: self._seen.get(raw) or store_rows(_rows([raw]))[0] for raw in found}
            return list(self._seen.values())

    def drop(self) -> None:
        """Remove the store's own schema with all that is in it: for a scratch store.

        Raises ValueError for a store without one: its tables may stand among others.
        """
        if not self._schema:
            raise ValueError("only a store with a schema of its own can be dropped")
        with self._lock:
            name = sql.Identifier(self._schema)
            self._db.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


def _insert(db: _Connection, session: str, message: Message, inbound: str = "") -> str:
    new = "INSERT INTO session_rows (session, message, inbound) VALUES (%s, %s, %s) RETURNING id"
    [(row_id,)] = db.execute(new, (session, _encode(message), inbound))
    return str(row_id)


def _rows(found: Iterable[tuple[Any, ...]]) -> list[SessionRow]:
    return [SessionRow(i, _decode_message(text), inbound) for i, text, inbound in found]
