"""Opening a store whose file may be damaged: a changed plan changes the file before it is read.

The plan of an opening sends one record a row, in the form of `session_facts`. Lines are written as
they are; rows may be torn, doubled, or from an older version of the tables.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.core.values.calls import StoreRequest
from harness.core.values.errors import InputError
from harness.core.values.plans import Raise
from harness.stores.faulty_jsonl import JsonlMedium, os_error
from harness.stores.faulty_sqlite import SqliteMedium, path_of, read_error
from harness.stores.faulty_store import Ask, CarryOut, FaultyStore, Medium, write_steps
from harness.stores.jsonl import JsonlStore
from harness.stores.session_facts import DeliveryFact, RowFact, decode, encode
from harness.stores.session_store import SessionStore
from harness.stores.sqlite import SqliteStore


class _Kind(NamedTuple):
    """What is particular to a kind of store. `path` takes an open one."""

    path: Callable[[Any], str]
    records: Callable[[str], list[bytes]]
    lay: Callable[[str, Sequence[bytes]], None]
    medium: Callable[[Any, str, CarryOut], Medium]
    error: Callable[[str, str], Exception]


def open_faulty(
    store: SessionStore, reopened: Callable[[], SessionStore], ask: Ask, carry_out: CarryOut
) -> tuple[SessionStore, FaultyStore]:
    """The real store behind the seam, and the store as the agent gets it.

    `store` is the real one; `reopened` opens it again after its file was damaged. Raises what the
    store's library raises when it cannot be opened, and InputError for a store without a shim.
    """
    kind = _kind_of(store)
    path = kind.path(store)
    records = kind.records(path)
    plan = ask(StoreRequest("open", access="open", store=store.name), records, (), "")
    damaged = list(write_steps(plan).sent)
    if failed := next((step.error for step in plan if isinstance(step, Raise)), ""):
        store.close()
        raise kind.error(failed, path)
    if damaged != records:
        store.close()
        kind.lay(path, damaged)
        store = reopened()
    for step in plan:  # a wait, a jump, a kill; carrying out sends and answers does nothing
        carry_out(step)
    return store, FaultyStore(store, kind.medium(store, path, carry_out), ask)


def _kind_of(store: SessionStore) -> _Kind:
    for type_, kind in _KINDS.items():
        if isinstance(store, type_):
            return kind
    what = f"a fault on the store needs one of {', '.join(k.name for k in _KINDS)}"
    raise InputError(f"{what}, not {store.name}", "store")


def _lines(path: str) -> list[bytes]:
    data = Path(path).read_bytes() if os.path.exists(path) else b""
    *lines, torn = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([torn] if torn else [])


_ROWS = "SELECT session, message, inbound FROM rows ORDER BY id"
_DELIVERED = "SELECT session, id FROM inbounds WHERE delivered ORDER BY n"


def _rows(path: str) -> list[bytes]:
    with closing(sqlite3.connect(path)) as db:
        rows = [_record(*row) for row in db.execute(_ROWS)]
        delivered = [encode(DeliveryFact(*pair)) for pair in db.execute(_DELIVERED)]
    return rows + delivered


def _record(session: str, message: str | bytes, inbound: str) -> bytes:
    """A row as a fact; a row that a damaged file left as bytes stays damaged."""
    if isinstance(message, bytes):
        return message + b"\n"
    fact = {"fact": "row", "session": session, "message": msgspec.Raw(message.encode())}
    return msgspec.json.encode({**fact, **({"inbound": inbound} if inbound else {})}) + b"\n"


def _lay_rows(path: str, records: Sequence[bytes]) -> None:
    facts = [_fact(record) for record in records if record != b"\n"]
    delivered = [(f.session, f.inbound) for f in facts if isinstance(f, DeliveryFact)]
    rows = [_columns(fact) for fact in facts if not isinstance(fact, DeliveryFact)]
    with closing(sqlite3.connect(path)) as db, db:
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


_OLDER = (
    "DROP TABLE summaries",
    "ALTER TABLE inbounds DROP COLUMN kind",
    "ALTER TABLE inbounds DROP COLUMN delivered",
)
"""What a file was like whose rows are messages and nothing else."""


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


def _lay_lines(path: str, records: Sequence[bytes]) -> None:
    Path(path).write_bytes(b"".join(records))


_KINDS: dict[Any, _Kind] = {
    JsonlStore: _Kind(attrgetter("_path"), _lines, _lay_lines, JsonlMedium, os_error),
    SqliteStore: _Kind(path_of, _rows, _lay_rows, SqliteMedium, read_error),
}
