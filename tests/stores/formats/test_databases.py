"""Databases that `judge` reads, read as stores beside the agent that writes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.stores import Store
from harness.stores.opening import open_reader
from tests.recordings import databases as db


def _store(folder: Path, rows: db.Rows | None = None) -> Store:
    if rows is not None:
        (folder / "agent.db").write_bytes(db.database(rows))
    return open_reader("database:agent.db", folder)


def _told(store: Store) -> Iterator[tuple[str, str, str]]:
    return ((row.id, row.session, message.role) for row, message in store.read())


ROLES = ("user", "assistant", "tool", "assistant")


@pytest.mark.parametrize(
    ("rows", "name", "session"),
    [
        (db.LANGGRAPH, "t1", "t1"),
        (db.AGENTS, "s1", "s1"),
        (db.ADK, "a/u/s1", "s1"),
        (db.OPENCODE, "ses_1", ""),
    ],
)
def test_a_row_is_a_message_of_a_session(
    tmp_path: Path, rows: db.Rows, name: str, session: str
) -> None:
    told = [*_told(_store(tmp_path, rows))]
    roles = ("user", "assistant", "user", "assistant") if rows is db.ADK else ROLES
    assert told[:4] == [(f"{name}/{n}", session, role) for n, role in enumerate(roles, 1)]


def test_the_graphs_inside_of_a_graph_are_no_sessions(tmp_path: Path) -> None:
    child = db.checkpoint("t1", "3", {"messages": db.TURN[:1]}, checkpoint_ns="child:1")
    rows = {"checkpoints": [*db.LANGGRAPH["checkpoints"], child]}
    assert {session for _, session, _ in _told(_store(tmp_path, rows))} == {"t1"}


def test_a_file_or_table_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    store = _store(tmp_path)
    assert store.read() == []
    (tmp_path / "agent.db").write_bytes(b"")
    assert store.read() == []
    with closing(sqlite3.connect(tmp_path / "agent.db")) as created:
        created.execute("PRAGMA user_version = 1")
    assert store.read() == [], "the file is there, and no table yet"
    checkpoint = db.checkpoint("t1", "1", {"messages": []})
    assert _store(tmp_path, {"checkpoints": [checkpoint]}).read() == []


def test_what_is_written_later_is_read_later(tmp_path: Path) -> None:
    rows = db.LANGGRAPH["checkpoints"]
    store = _store(tmp_path, {"checkpoints": rows[:1]})
    assert [*_told(store)] == [("t1/1", "t1", "user")]
    _store(tmp_path, {"checkpoints": rows})
    assert [role for *_, role in _told(store)] == [*ROLES]


def test_another_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"agent\.db.*no format reads this database"):
        _store(tmp_path, {"notes": [{"id": 1}]}).read()
    (tmp_path / "agent.db").write_bytes(b"no database at all, and long enough to be one" * 10)
    with pytest.raises(InputError, match="cannot be read as a SQLite database"):
        _store(tmp_path).read()
