"""Store readers: how the harness looks at a store that an agent keeps by itself.

The signature of a public function makes it a reader. Its first parameter is `path`, below the
agent's session folder, or `url`, taken as it stands. A plug-in's readers are named `PREFIX.name`. A
store is read during writes: a torn last row is left out, as its writer has not finished it.
"""

from __future__ import annotations

import glob
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from os import PathLike
from pathlib import Path
from typing import get_type_hints

import msgspec

from harness.core.history.events import StoredRow
from harness.core.transition.ports import Store
from harness.core.values.errors import InputError
from harness.core.values.messages import Block, Message
from harness.parts.loading import Plugin, loaded, unknown_name
from harness.stores.session_store import stored_row

Reader = Callable[..., Store]
"""Opens the store at a path, or behind a URL."""


def sqlite(path: Path) -> Store:
    """The session store of the harness in SQLite."""
    from harness.stores.sqlite import SqliteStore

    return SqliteStore(path, synchronous="OFF")


def jsonl(path: Path) -> Store:
    """One message a line, free of any provider; a file for each session, or a folder of files."""
    return MessageLines(path)


def claude_code(path: Path) -> Store:
    """A session log of Claude Code, or a folder of them."""
    from harness.stores.claude_code_store import ClaudeCodeStore

    return ClaudeCodeStore(path)


def hermes(path: Path) -> Store:
    """The database of a hermes agent."""
    from harness.stores.hermes_store import HermesStore

    return HermesStore(path)


def postgres(url: str) -> Store:
    """The session store of the harness on a PostgreSQL server."""
    from harness.stores.store_options import open_postgres

    return open_postgres(url)


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


def readers() -> Mapping[str, Reader]:
    """Every store reader by its full name: our own, then those of the loaded plug-ins."""
    return _readers(loaded())


@cache
def _readers(plugins: tuple[Plugin, ...]) -> Mapping[str, Reader]:
    own = parts_of(Plugin("", sys.modules[__name__]))
    guests = {
        f"{plugin.prefix}.{name}": reader
        for plugin in plugins
        for name, reader in parts_of(plugin).items()
    }
    return {**own, **guests}


def reader_named(name: str, place: str = "") -> Reader:
    """The store reader of a name. Raises InputError, with the nearest names, for an unknown one."""
    if name not in readers():
        raise InputError(f"no store reader {name!r}; {unknown_name(name, readers())}", place)
    return readers()[name]


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


class _Line(msgspec.Struct, frozen=True):
    role: str
    blocks: tuple[Block, ...] = ()
    id: str = ""


_decode_line = msgspec.json.Decoder(_Line).decode


class MessageLines:
    """A foreign agent's session: one message a line, as the harness reads it.

    A line is `{"role": …, "blocks": […]}`; an `id` beside them names the inbound message that the
    row keeps. A row's id is its line number, so a rewritten row has changed. Lines end with a line
    feed and nothing else: U+2028 inside a text ends none.

    `{session}` in the path stands for the name of a session, and its rows are known to be of that
    session. The files of a folder are read in the order of their names, which name no sessions.
    """

    name = "jsonl"

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row in order. A line that is not a message is left out, and so is a torn last
        one."""
        return [
            row for prefix, session, file in self._files() for row in _rows(file, prefix, session)
        ]

    def _files(self) -> Iterator[tuple[str, str, Path]]:
        """The files that are there, each with what stands before its row's ids, and its session."""
        path = self._path
        if _SESSION in str(path):
            for session, file in _files_of_sessions(path):
                yield f"{session}/", session, file
        elif path.is_dir():
            for file in sorted(path.rglob("*.jsonl")):
                yield f"{file.relative_to(path).with_suffix('').as_posix()}/", "", file
        elif path.exists():
            yield "", "", path


_SESSION = "{session}"


def _files_of_sessions(path: Path) -> Iterator[tuple[str, Path]]:
    """The files that fit a path with a place for the session's name, and that name."""
    at = next(n for n, part in enumerate(path.parts) if _SESSION in part)
    base, below = Path(*path.parts[:at]), "/".join(path.parts[at:])
    place = re.escape(_SESSION)
    form = re.escape(below).replace(place, "(?P<s>[^/]+)", 1).replace(place, "(?P=s)")
    fits = re.compile(form).fullmatch
    pattern = glob.escape(below).replace(glob.escape(_SESSION), "*")
    for file in sorted(base.glob(pattern)):
        if (found := fits(file.relative_to(base).as_posix())) and file.is_file():
            yield found["s"], file


def _rows(file: Path, prefix: str, session: str) -> Iterator[tuple[StoredRow, Message]]:
    for number, line in enumerate(file.read_bytes().split(b"\n"), start=1):
        try:
            row = _decode_line(line)
        except (msgspec.DecodeError, msgspec.ValidationError):
            continue
        yield stored_row(f"{prefix}{number}", Message(row.role, row.blocks), row.id, session)
