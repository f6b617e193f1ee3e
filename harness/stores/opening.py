"""Opening a store: the session store that an agent's options name, or an agent's own with a reader.

A session store on a server has a schema named like the session folder, so runs never share
sessions. A public function whose first parameter is `path`, below the agent's session folder, or
`url`, taken as it stands, is a reader. A plug-in's readers are named `PREFIX.name`. A store is read
during writes: a torn last row is left out, as its writer has not finished it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_type_hints

from harness.core.transition.ports import Store
from harness.core.values.errors import InputError, PackageMissing, nearest
from harness.parts.loading import Kind, Plugin, unknown_name
from harness.parts.part import Part, docstring_of
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


Reader = Callable[..., Store]
"""Opens the store at a path, or behind a URL."""


def parts_of(plugin: Plugin) -> Mapping[str, Reader]:
    """The store readers that a plug-in brings, by their names without the prefix."""
    return {name: part for name, part in plugin.functions.items() if _is_reader(part)}


def _is_reader(function: Callable[..., object]) -> bool:
    first = next(iter(inspect.signature(function).parameters), "")
    return first in ("path", "url") and _returns_store(function)


def _returns_store(function: Callable[..., object]) -> bool:
    try:
        returned = get_type_hints(function).get("return")
    except NameError:  # imported for type checkers alone
        text = str(function.__annotations__.get("return", ""))
        return text.strip("\"'").rpartition(".")[2] == "Store"
    return returned is Store or Store in getattr(returned, "__mro__", ())


READERS: Kind[Reader] = Kind(
    "store reader",
    "a store reader with `path` or `url`",
    parts_of,
    lambda name, reader: Part(name, docstring_of(reader)),
    folder="harness.stores.formats",
)

readers = READERS.all
"""Every store reader by its full name: our own, then those of the loaded plug-ins."""


def reader_named(name: str, place: str = "") -> Reader:
    """The store reader of a name. Raises InputError, with the nearest names, for an unknown one."""
    return READERS.named(name, place, "no store reader {!r}")


def open_reader(spec: str, folder: Path) -> Store:
    """The store that `READER:PATH` names, below the session folder, or `READER:URL`.

    Raises InputError for an unknown reader.
    """
    name, _, rest = spec.partition(":")
    reader = readers().get(name)
    if reader is None or not rest:
        hint = unknown_name(name, readers())
        raise InputError(f"a store is READER:PATH; {hint}", f"store {spec!r}")
    takes_url = "url" in inspect.signature(reader).parameters
    return reader(rest if takes_url else folder / rest)
