"""The session store that the options `store` and `dsn` of an agent name.

A server store has a schema named like the session folder, so runs never share sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from harness.core.values.errors import InputError, PackageMissing, nearest
from harness.stores.session_store import SessionStore

Outlives = Literal["machine", "process", "connection"]
"""What a commit outlives: a failure of the machine, the end of its process by SIGKILL, or neither,
where one connection is all that ever reads it."""


def _sqlite(folder: Path, dsn: str, outlives: Outlives) -> SessionStore:
    from harness.stores.sqlite import UNNAMED, SqliteStore

    path = folder / "session.db"
    needs_file = outlives != "connection" or path.exists()
    return SqliteStore(
        path if needs_file else UNNAMED, synchronous="FULL" if outlives == "machine" else "OFF"
    )


def _jsonl(folder: Path, dsn: str, outlives: Outlives) -> SessionStore:
    from harness.stores.jsonl import JsonlStore

    return JsonlStore(folder / "session.jsonl")


def _postgres(folder: Path, dsn: str, outlives: Outlives) -> SessionStore:
    if not dsn:
        raise InputError("store=postgres needs the option `dsn`: where the server is", "store")
    return open_postgres(dsn, folder.name)


def open_postgres(dsn: str, schema: str = "") -> SessionStore:
    """The store on a PostgreSQL server.

    Raises PackageMissing when psycopg is not installed.
    """
    try:
        from harness.stores.postgres import PostgresStore
    except ImportError as error:
        raise PackageMissing("psycopg", "postgres", "PostgreSQL", "store") from error
    return PostgresStore(dsn, schema=schema)


def drop_scratch(store: SessionStore) -> None:
    """Remove what a scratch store leaves on a server; files go with their folder."""
    drop = getattr(store, "drop", None)
    if drop is not None:
        drop()


STORES: dict[str, Callable[[Path, str, Outlives], SessionStore]] = {
    "sqlite": _sqlite,
    "jsonl": _jsonl,
    "postgres": _postgres,
}


OpenStore = Callable[[Mapping[str, Any], Path], SessionStore]
"""`(options, session folder) -> store`."""


def open_scratch(options: Mapping[str, Any], folder: Path) -> SessionStore:
    """The store of a run whose folder goes when the run is over; a kill ends no commit."""
    return open_store(options, folder, outlives="process")


def open_unshared(options: Mapping[str, Any], folder: Path) -> SessionStore:
    """The store of a run that nothing kills, whose one connection is all that ever reads it."""
    return open_store(options, folder, outlives="connection")


def open_store(
    options: Mapping[str, Any], folder: Path, *, outlives: Outlives = "machine"
) -> SessionStore:
    """The store that the options name, SQLite without any, for a session folder.

    What a commit need not outlive may cost less. Raises InputError for an unknown name, a DSN that
    is missing, and a package that is not installed.
    """
    name = str(options.get("store", "sqlite"))
    if name not in STORES:
        raise InputError(f"there is no store {name!r}; {nearest(name, STORES)}", "store")
    return STORES[name](folder, str(options.get("dsn", "")), outlives)
