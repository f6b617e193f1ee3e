"""A write that raises has not happened, and the next one succeeds."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.core.values.messages import Message, user
from harness.stores.jsonl import Disk, JsonlStore
from harness.stores.sqlite import SqliteStore

LARGE = user("x" * 100_000)


def _texts(store: SqliteStore | JsonlStore) -> list[Message]:
    return [row.message for row in store.rows("main")]


def test_a_full_disk_is_told_as_what_it_is_although_sqlite_has_rolled_back(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    store.append("main", user("before"))
    with sqlite3.connect(tmp_path / "s.db") as other:
        (pages,) = other.execute("PRAGMA page_count").fetchone()
    other.close()
    store._db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(sqlite3.OperationalError, match="database or disk is full"):
        store.append("main", LARGE)
    store._db.execute("PRAGMA max_page_count=100000")
    store.append("main", LARGE)
    assert _texts(store) == [user("before"), LARGE]


def test_a_commit_that_fails_leaves_no_open_transaction(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")

    def refuse() -> None:
        store.at_commit = lambda: None
        raise OSError("no")

    store.at_commit = refuse
    with pytest.raises(OSError, match="no"):
        store.append("main", user("lost"))
    assert not store._db.in_transaction
    store.append("main", user("kept"))
    assert _texts(store) == [user("kept")]


class HalfDisk(Disk):
    """Writes half of what it is given, and fails; or all of it, and fails to sync."""

    def __init__(self, fails: str) -> None:
        self.fails = fails

    def write(self, descriptor: int, data: bytes) -> None:
        """Write."""
        if self.fails == "write":
            os.write(descriptor, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Sync."""
        if self.fails == "sync":
            raise OSError(5, "Input/output error")
        super().sync(descriptor)


@pytest.mark.parametrize("fails", ["write", "sync"])
def test_a_line_that_could_not_be_written_or_synced_is_taken_back(
    tmp_path: Path, fails: str
) -> None:
    store = JsonlStore(tmp_path / "s.jsonl")
    store.append("main", user("before"))
    whole = (tmp_path / "s.jsonl").read_bytes()
    store.disk = disk = HalfDisk(fails)
    with pytest.raises(OSError, match=r"No space|Input/output"):
        store.append("main", user("lost"))
    assert (tmp_path / "s.jsonl").read_bytes() == whole
    assert _texts(store) == [user("before")]
    disk.fails = ""
    store.append("main", user("after"))
    assert _texts(JsonlStore(tmp_path / "s.jsonl")) == [user("before"), user("after")]


@pytest.mark.parametrize("kind", [SqliteStore, JsonlStore])
def test_a_kill_of_a_write_by_an_exception_of_any_kind_is_the_same(
    tmp_path: Path, kind: Callable[[Path], SqliteStore | JsonlStore]
) -> None:
    store = kind(tmp_path / "s")

    def interrupt() -> None:
        raise KeyboardInterrupt

    store.at_commit = interrupt
    with pytest.raises(KeyboardInterrupt):
        store.append("main", user("lost"))
    store.at_commit = lambda: None
    store.append("main", user("kept"))
    assert _texts(store) == [user("kept")]
    assert _texts(kind(tmp_path / "s")) == [user("kept")]
