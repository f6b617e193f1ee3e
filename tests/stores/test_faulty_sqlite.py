"""Each condition makes a real SQLite fail in its own words, and is over afterwards."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.core.values.messages import user
from harness.stores.faulty_files import CONDITIONS, Write
from harness.stores.sqlite import BUSY_TIMEOUT_MS, SqliteStore

SAYS = {
    "busy": "SQLITE_BUSY",
    "busy_snapshot": "SQLITE_BUSY_SNAPSHOT",
    "ENOSPC": "SQLITE_FULL",
    "EDQUOT": "SQLITE_IOERR_WRITE",
    "EFBIG": "SQLITE_IOERR_WRITE",
    "EIO": "SQLITE_IOERR_WRITE",
    "EROFS": "SQLITE_READONLY",
    "EACCES": "SQLITE_CANTOPEN",
}


def _write(store: SqliteStore, path: Path) -> Write:
    def call(at_commit: Callable[[], None]) -> Any:
        store.at_commit = at_commit
        try:
            return store.append("main", user("in the condition"))
        finally:
            store.at_commit = lambda: None

    return Write(store._db, str(path), call)


@pytest.mark.parametrize("name", SAYS)
def test_a_condition_fails_the_write_and_nothing_after_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "s.db"
    store = SqliteStore(path)
    store.append("main", user("before"))
    with pytest.raises(sqlite3.OperationalError) as caught:
        CONDITIONS[name](_write(store, path))
    assert caught.value.sqlite_errorname == SAYS[name]
    store.append("main", user("after" * 10_000))
    texts = [row.message.text for row in store.rows("main")]
    assert texts == ["before", "after" * 10_000]
    assert store._db.execute("PRAGMA busy_timeout").fetchone() == (BUSY_TIMEOUT_MS,)
    assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_every_condition_is_here() -> None:
    assert CONDITIONS.keys() == SAYS.keys()
