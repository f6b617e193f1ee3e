"""Store readers: how the harness looks at a store that an agent keeps by itself.

The signature of a public function makes it a reader. Its first parameter is `path`, below the
agent's session folder, or `url`, taken as it stands. A plug-in's readers are named `PREFIX.name`. A
store is read during writes: a torn last row is left out, as its writer has not finished it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_type_hints

from harness.core.transition.ports import Store
from harness.core.values.errors import InputError
from harness.parts.loading import Kind, Plugin, unknown_name
from harness.parts.part import Part, docstring_of

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
