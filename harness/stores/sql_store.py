"""A session store in SQL tables: what SQLite and PostgreSQL have in common.

The tables are the rows, the inbound messages with the state of their turns, and the summaries.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, builtin
from harness.core.values.table_file import pairs
from harness.stores.session_facts import storable
from harness.stores.session_store import Pending, SessionRow, history_rows, no_commit_hook

decode_message = msgspec.json.Decoder(Message).decode
_decode_inbound = msgspec.json.Decoder(Inbound).decode


def encode(value: Message | Inbound | str) -> str:
    """A value as the JSON text of a column."""
    return msgspec.json.encode(value, enc_hook=builtin).decode()


def statements(prefix: str = "", mark: str = "?", as_text: str = "") -> Mapping[str, str]:
    """The statements for tables whose names begin with `prefix`.

    `mark` stands for a parameter; `as_text` is a cast that turns an id into text.
    """
    said = {"prefix": prefix, "mark": mark, "as_text": as_text}
    texts = pairs("harness.stores", "statements.tsv")
    return {name: text.format_map(said) for name, text in texts.items()}


class SqlStore:
    """`session_store.SessionStore` on SQL; `_SQL`, `_db`, `_writing` and `_insert` are a
    database's own."""

    _SQL: Mapping[str, str]
    _db: Any

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.notes: list[str] = []
        self.at_commit: Callable[[], None] = no_commit_hook

    def _writing(self, session: str) -> AbstractContextManager[Any]:
        """One transaction: all of it is on disk afterwards, or nothing."""
        raise NotImplementedError

    def _ask(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        with self._lock:
            found: list[tuple[Any, ...]] = self._db.execute(query, values).fetchall()
            return found

    def _insert(self, db: Any, session: str, message: Message, inbound: str = "") -> str:
        """Insert a row in an open transaction, and return its id."""
        raise NotImplementedError

    def _reply_column(self, text: str) -> str:
        return text

    def _reply_text(self, column: str) -> str:
        return column

    def _rows(self, found: Iterable[tuple[Any, ...]]) -> list[SessionRow]:
        return [SessionRow(str(i), decode_message(text), inbound) for i, text, inbound in found]

    def seed(self, session: str, messages: Iterable[Message]) -> None:
        """Store messages of the past."""
        with self._writing(session) as db:
            for message in messages:
                self._insert(db, session, message)

    def accept(self, inbound: Inbound, message: Message) -> bool:
        """Store an inbound message once; False when its id is known."""
        key = (inbound.session, inbound.id)
        with self._writing(inbound.session) as db:
            if not db.execute(self._SQL["accept"], (*key, encode(storable(inbound)))).rowcount:
                return False
            self._insert(db, inbound.session, message, inbound.id)
        return True

    def append(self, session: str, message: Message, inbound: str = "") -> str:
        """Store a row and return its id."""
        with self._writing(session) as db:
            return self._insert(db, session, message, inbound)

    def begin(self, inbound: Inbound) -> int:
        """Count that the turn of an accepted message begins again."""
        key = (inbound.session, inbound.id)
        with self._writing(inbound.session) as db:
            db.execute(self._SQL["begin"], key)
            return int(db.execute(self._SQL["attempts"], key).fetchone()[0])

    def reply(self, inbound: Inbound, message: Message, status: str, kind: str) -> str:
        """Store the reply to an accepted message."""
        values = (self._reply_column(message.text), status, kind, inbound.session, inbound.id)
        with self._writing(inbound.session) as db:
            db.execute(self._SQL["reply"], values)
            return self._insert(db, inbound.session, message)

    def delivered(self, inbound: Inbound) -> None:
        """Note that the reply has left."""
        with self._writing(inbound.session) as db:
            db.execute(self._SQL["deliver"], (inbound.session, inbound.id))

    def pending(self) -> Sequence[Pending]:
        """The accepted messages whose turns are not over."""
        return [self._pending(*columns) for columns in self._ask(self._SQL["pending"])]

    def _pending(
        self, inbound: str, attempts: int, reply: str | None, status: str, kind: str
    ) -> Pending:
        told = None if reply is None else self._reply_text(reply)
        return Pending(_decode_inbound(inbound), int(attempts), told, status, kind)

    def summarise(self, session: str, summary: Message, first: str) -> None:
        """The session's history begins with `summary` and the row `first` from now on."""
        with self._writing(session) as db:
            db.execute(self._SQL["summarise"], (session, encode(summary), int(first)))

    def load(self, session: str) -> list[SessionRow]:
        """The session's history, from its last summary on."""
        last = self._ask(self._SQL["summary"], session)
        summary = (decode_message(last[0][0]), str(last[0][1])) if last else None
        return history_rows(self.rows(session), summary)

    def rows(self, session: str) -> list[SessionRow]:
        """Every row of the session."""
        return self._rows(self._ask(self._SQL["rows"], session))
