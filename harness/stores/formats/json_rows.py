"""Messages as JSON that another program keeps: a table with a column of it, or a folder of files.

Only this file knows how a table is named in the text of a store. A value is one message, or what
holds a list of them, as any API or framework writes them. A row's id is its place, so a rewritten
row has changed. What cannot be read is left out: it may be half written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from harness.core.history.events import StoredRow
from harness.core.transition.ports import Store
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json, Message
from harness.recordings.chat_messages import transcript_of
from harness.recordings.session_log import MAX_LINE_BYTES
from harness.stores.plain_tables import columns, opened, quoted
from harness.stores.session_store import session_of, stored_row

Rows = Iterator[tuple[StoredRow, Message]]


def json_table(path: Path) -> Store:
    """A table of a SQLite database with a column of JSON: `agent.db?table=messages&column=data`."""
    return JsonTable(path)


def json_files(path: Path) -> Store:
    """A folder of JSON files with messages, one of a session each, named like it."""
    return JsonFiles(path)


class Table(msgspec.Struct, frozen=True):
    """Where the messages are: the columns of the value, of the session, and of the order."""

    table: str
    column: str
    session: str = ""
    order: str = "rowid"


class JsonTable:
    """A `Store` over the rows of a table; a file or table that is not there yet is empty."""

    name = "json_table"

    def __init__(self, path: str | PathLike[str]) -> None:
        file, _, words = str(path).partition("?")
        self._file, self._table = Path(file), _table(words)

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row in order. Raises InputError for a file that is not a database, for a table
        without a named column, and for a view, which could run anything."""
        if not self._file.exists() or not self._file.stat().st_size:
            return []
        with opened(self._file, live=True) as db:
            return list(self._rows(db))

    def _rows(self, db: sqlite3.Connection) -> Rows:
        place = self._table
        held = columns(db, place.table)
        wanted = [name for name in (place.column, place.session, place.order) if name]
        missing = [name for name in wanted if name not in (*held, "rowid")]
        if not held:
            query = "SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE"
            if db.execute(query, (place.table,)).fetchone():
                raise InputError("is a view or no plain table, and is not read", place.table)
            return
        if missing:
            raise InputError(f"no column {missing[0]!r}; {nearest(missing[0], held)}", place.table)
        named = quoted(place.session) if place.session else "''"
        query = (
            f"SELECT rowid, {quoted(place.column)}, {named} FROM {quoted(place.table)} "
            f"ORDER BY {quoted(place.order)}, rowid"
        )
        for number, value, session in db.execute(query):
            yield from _stored(str(number), value, str(session))


class JsonFiles:
    """A `Store` over the files of a folder, in the order of their names."""

    name = "json_files"
    by_place = True

    def __init__(self, path: str | PathLike[str]) -> None:
        self._folder = Path(path)

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every message in order. A file that is not whole JSON is left out,
        and one that is too large."""
        files = (file for file in sorted(self._folder.rglob("*.json")) if _is_read(file))
        return [
            row
            for file in files
            for row in _stored(file.stem, file.read_bytes(), session_of(file.stem))
        ]


def _is_read(file: Path) -> bool:
    """Whether a file is a regular one of a size that a session has."""
    return file.is_file() and file.stat().st_size <= MAX_LINE_BYTES


def _table(words: str) -> Table:
    """Raises InputError for a text that names no table, no column, or something else."""
    given = dict(parse_qsl(words, keep_blank_values=True))
    for name in given:
        if name not in Table.__struct_fields__:
            raise InputError(f"a table has no {name!r}; {nearest(name, Table.__struct_fields__)}")
    try:
        return msgspec.convert(given, type=Table)
    except msgspec.ValidationError:
        raise InputError("json_table needs FILE?table=NAME&column=NAME") from None


def _stored(place: str, value: Any, session: str) -> Rows:
    """The rows of a value: a message, or a list of them."""
    try:
        found: Json = json.loads(value)
    except (ValueError, TypeError):
        return
    is_one = isinstance(found, dict) and "role" in found
    transcript = transcript_of("", [found] if is_one else found)
    for number, message in enumerate(transcript.messages if transcript else (), 1):
        yield stored_row(place if is_one else f"{place}/{number}", message, "", session)
