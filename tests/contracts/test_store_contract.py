"""Our store readers keep their laws, and a reader that breaks one is told so."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.contracts import check_store
from harness.core.values.messages import Message
from harness.stores import SqliteStore, Store, StoredRow, readers, stored_row
from tests.contracts.amount import EXAMPLES
from tests.stores import hermes_database

pytestmark = pytest.mark.hypothesis

READERS = readers()
Rows = Sequence[tuple[StoredRow, Message]]


def _line(message: Message) -> bytes:
    return msgspec.json.encode({"role": message.role, "blocks": message.blocks}) + b"\n"


def add_line(path: Path, message: Message) -> None:
    with open(path, "ab") as file:
        file.write(_line(message))


def change_line(path: Path, place: int, message: Message) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:place], _line(message), *lines[place + 1 :]]))


def remove_line(path: Path, place: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))


def test_message_lines() -> None:
    check_store(READERS["jsonl"], add_line, change=change_line, examples=3 * EXAMPLES)


def add_entry(path: Path, message: Message) -> None:
    number = path.read_bytes().count(b"\n") if path.exists() else 0
    said = {"role": message.role, "content": message.text, "id": f"m{number}"}
    entry = {"type": message.role, "uuid": f"u{number}", "sessionId": "s", "message": said}
    with open(path, "ab") as file:
        file.write(json.dumps(entry).encode() + b"\n")


def test_claude_code() -> None:
    check_store(READERS["claude_code"], add_entry, examples=3 * EXAMPLES)


def add_row(path: Path, message: Message) -> None:
    with closing(SqliteStore(path, synchronous="OFF")) as store:
        store.append("main", message)


def change_row(path: Path, place: int, message: Message) -> None:
    _each_row(
        path, place, "UPDATE rows SET message=? WHERE id=?", msgspec.json.encode(message).decode()
    )


def remove_row(path: Path, place: int) -> None:
    _each_row(path, place, "DELETE FROM rows WHERE id=?")


def _each_row(path: Path, place: int, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        rows = db.execute("SELECT id FROM rows ORDER BY id").fetchall()
        db.execute(statement, (*values, rows[place][0]))


def test_sqlite() -> None:
    check_store(READERS["sqlite"], add_row, change=change_row, remove=remove_row, cuts=False,
                examples=EXAMPLES)  # fmt: skip


def add_hermes(path: Path, message: Message) -> None:
    db = (
        sqlite3.connect(path, isolation_level=None)
        if path.exists()
        else hermes_database.create(path)
    )
    with closing(db):
        hermes_database.add(db, message.role, message.text)


def test_hermes() -> None:
    check_store(READERS["hermes"], add_hermes, cuts=False, examples=EXAMPLES)


def add_item(path: Path, message: Message) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        columns = "id INTEGER PRIMARY KEY, session_id, message_data"
        db.execute(f"CREATE TABLE IF NOT EXISTS agent_messages ({columns})")
        row = ("s1", _of_any_api(message))
        db.execute("INSERT INTO agent_messages (session_id, message_data) VALUES (?, ?)", row)


def test_database() -> None:
    check_store(READERS["database"], add_item, cuts=False, examples=EXAMPLES)


def table_of_json(path: Path) -> Store:
    """A table with a column of JSON."""
    return READERS["json_table"](Path(f"{path}?table=log&column=said"))


def _of_any_api(message: Message) -> str:
    return json.dumps({"role": message.role, "content": message.text})


def add_json(path: Path, message: Message) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS log (said)")
        db.execute("INSERT INTO log VALUES (?)", (_of_any_api(message),))


def change_json(path: Path, place: int, message: Message) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        rows = db.execute("SELECT rowid FROM log ORDER BY rowid").fetchall()
        db.execute("UPDATE log SET said=? WHERE rowid=?", (_of_any_api(message), rows[place][0]))


def test_json_table() -> None:
    check_store(table_of_json, add_json, change=change_json, cuts=False, examples=EXAMPLES)


def add_file(path: Path, message: Message) -> None:
    path.mkdir(exist_ok=True)
    number = len([*path.iterdir()])
    (path / f"{number:04}.json").write_text(_of_any_api(message), "utf-8")


def change_file(path: Path, place: int, message: Message) -> None:
    sorted(path.iterdir())[place].write_text(_of_any_api(message), "utf-8")


def test_json_files() -> None:
    check_store(READERS["json_files"], add_file, change=change_file, cuts=False, examples=EXAMPLES)


class Lines:
    """One message a line, read from the file each time. A wrong reader differs in one respect."""

    name = "lines"

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[bytes]:
        """The whole lines."""
        return self.path.read_bytes().split(b"\n")[:-1] if self.path.exists() else []

    def read(self) -> Rows:
        """Every row."""
        return [self.row(n, line) for n, line in enumerate(self.lines(), 1)]

    def row(self, n: int, line: bytes) -> tuple[StoredRow, Message]:
        """A line as a row."""
        return stored_row(str(n), msgspec.json.decode(line, type=Message))


def right(path: Path) -> Store:
    """Nothing is wrong."""
    return Lines(path)


def test_a_right_reader_passes() -> None:
    check_store(right, add_line, change=change_line)


class _Torn(Lines):
    def lines(self) -> list[bytes]:
        return (
            [line for line in self.path.read_bytes().split(b"\n") if line]
            if self.path.exists()
            else []
        )


def reads_torn_lines(path: Path) -> Store:
    """A line that is not whole is a line."""
    return _Torn(path)


class _Cursor(Lines):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._seen: list[Any] = []

    def read(self) -> Rows:
        new = super().read()[len(self._seen) :]
        self._seen += new
        return self._seen


def never_looks_back(path: Path) -> Store:
    """A row that was changed is as it was."""
    return _Cursor(path)


class _Touches(Lines):
    def read(self) -> Rows:
        if self.path.exists():
            self.path.write_bytes(self.path.read_bytes() + b" ")
        return super().read()


def writes(path: Path) -> Store:
    """Leaves a mark in what it reads."""
    return _Touches(path)


class _Digest(Lines):
    def row(self, n: int, line: bytes) -> tuple[StoredRow, Message]:
        row, message = super().row(n, line)
        return msgspec.structs.replace(row, digest="same"), message


def has_one_digest(path: Path) -> Store:
    """All rows have one digest."""
    return _Digest(path)


class _Last(Lines):
    def read(self) -> Rows:
        return super().read()[-2:]


def keeps_the_last(path: Path) -> Store:
    """Rows at the beginning are gone."""
    return _Last(path)


class _Same(Lines):
    def row(self, n: int, line: bytes) -> tuple[StoredRow, Message]:
        return super().row(1, line)


def has_one_id(path: Path) -> Store:
    """All rows have one id."""
    return _Same(path)


class _Backwards(Lines):
    def read(self) -> Rows:
        return [*reversed(super().read())]


def reads_backwards(path: Path) -> Store:
    """The last row comes first."""
    return _Backwards(path)


class _Needs(Lines):
    def lines(self) -> list[bytes]:
        return self.path.read_bytes().split(b"\n")[:-1]


def needs_a_file(path: Path) -> Store:
    """The agent must have begun."""
    return _Needs(path)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (reads_torn_lines, "raises DecodeError|raises ValidationError"),
        (never_looks_back, "an open store and a fresh one see other rows"),
        (writes, "writes to the store|reads other rows|the number of new rows is not one|raises"),
        (has_one_digest, "is not that of its message"),
        (keeps_the_last, "earlier rows changed|the number of new rows is not one"),
        (has_one_id, "an id is empty, or occurs twice"),
        (reads_backwards, "earlier rows changed"),
        (needs_a_file, "raises FileNotFoundError"),
    ],
)
def test_a_wrong_reader_is_told(wrong: Callable[[Path], Store], sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_store(wrong, add_line, change=change_line, examples=200)


def test_rows_that_move_are_told() -> None:
    with pytest.raises(AssertionError, match="but the rows that are gone differ"):
        check_store(right, add_line, remove=remove_line)
