"""SQLite under fault: locks, room and commits of a real file.

A failure of the machine takes what no sync has reached. With `synchronous=FULL` every commit is
synced, and the log itself drops a transaction that was not committed; else the file goes back to
its state at the last sync, or when it was opened.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from harness.core.values.plans import Raise, Step
from harness.stores.facts import RowFact, decode
from harness.stores.shim.conditions import CONDITIONS, Write, read_error
from harness.stores.shim.steps import CarryOut, Own, Steps, lost_with
from harness.stores.sqlite import SqliteStore

FULL = 2
"""`PRAGMA synchronous`: every commit is synced."""


class _Lazy:
    """A connection that ends a transaction only when it is told to."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db, self.commits = db, True

    def execute(self, statement: str, *values: Any) -> Any:
        """As the connection's; a transaction that is open already is joined."""
        joined = statement == "BEGIN IMMEDIATE" and self._db.in_transaction
        if joined or (statement == "COMMIT" and not self.commits):
            return None
        return self._db.execute(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


class SqliteMedium:
    """What a `SqliteStore` writes on."""

    def __init__(self, store: SqliteStore, path: str, carry_out: CarryOut) -> None:
        self._store, self._path, self._carry_out = store, path, carry_out
        self._db = store._db
        self._lazy: Any = _Lazy(self._db)
        vars(store)["_db"] = self._lazy
        (synchronous,) = self._db.execute("PRAGMA synchronous").fetchone()
        self._syncs = synchronous >= FULL
        self._synced = None if self._syncs else self._db.serialize()

    def read(self, steps: Steps, call: Callable[[], Any]) -> Any:
        """Read, unless the disk cannot."""
        self._steps(steps.before)
        if steps.raised:
            raise read_error(steps.raised)
        result = call()
        self._steps(steps.after)
        return result

    def write(self, steps: Steps, own: Own) -> Any:
        """Write as the steps say, in the condition that makes SQLite fail where they raise."""
        self._steps(steps.before)
        for record in steps.sent:
            if record not in own.records:
                self._written_by_another(record)
        self._keep(steps)

        def carried(at_commit: Callable[[], None]) -> Any:
            def inside() -> None:
                own.commit()
                self._steps(steps.inside)
                at_commit()

            self._store.at_commit = inside
            return own.call()

        if steps.raised:
            return CONDITIONS[steps.raised](Write(self._db, self._path, carried))
        result = carried(lambda: None)
        self._steps(steps.after)
        return result

    def _keep(self, steps: Steps) -> None:
        """Note how safe the write will be."""
        how = steps.kept.how if steps.kept else "synced"
        self._lazy.commits = how != "uncommitted"
        if how == "unsynced" and self._synced is None:
            self._synced = self._db.serialize()
        elif how == "synced" and self._syncs:
            self._synced = None

    def _written_by_another(self, record: bytes) -> None:
        """A second process writes a row, or takes the same message in before us."""
        fact = decode(record)
        assert isinstance(fact, RowFact), fact
        with closing(SqliteStore(self._path)) as rival:
            if fact.accepted is not None:
                rival.accept(fact.accepted, fact.message)
            else:
                rival.append(fact.session, fact.message, fact.inbound)

    def _steps(self, steps: Sequence[Step]) -> None:
        """Carry out steps up to an error."""
        for step in steps:
            if isinstance(step, Raise):
                return
            if lost_with(step):
                self._lose()
            self._carry_out(step)

    def _lose(self) -> None:
        """Leave of the file what a failure of the machine leaves of it."""
        if self._synced is None:
            return
        with open(self._path, "wb") as file:
            file.write(self._synced)
        for end in ("-wal", "-shm"):
            if os.path.exists(self._path + end):
                os.unlink(self._path + end)


def path_of(store: SqliteStore) -> str:
    """Where the store's file is."""
    _, _, path = store._db.execute("PRAGMA database_list").fetchone()
    return str(path)
