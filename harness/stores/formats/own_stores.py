"""The session stores of the harness, as readers. Only the store that is read imports its driver."""

from __future__ import annotations

from pathlib import Path

from harness.core.transition.ports import Store


def sqlite(path: Path) -> Store:
    """The session store of the harness in SQLite."""
    from harness.stores.sqlite import SqliteStore

    return SqliteStore(path, synchronous="OFF")


def postgres(url: str) -> Store:
    """The session store of the harness on a PostgreSQL server."""
    from harness.stores.store_options import open_postgres

    return open_postgres(url)
