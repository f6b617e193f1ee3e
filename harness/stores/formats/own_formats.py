"""The formats of the harness: its own session stores, and messages in lines of JSON.

The lines are free of any provider, for the store of an agent that has its own. Only the store that
is read imports its driver.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

import msgspec

from harness.core.history.events import StoredRow
from harness.core.transition.ports import Store
from harness.core.values.messages import Block, Message
from harness.stores.session_store import session_of, stored_row


def sqlite(path: Path) -> Store:
    """The session store of the harness in SQLite."""
    from harness.stores.sqlite import SqliteStore

    return SqliteStore(path, synchronous="OFF")


def postgres(url: str) -> Store:
    """The session store of the harness on a PostgreSQL server."""
    from harness.stores.opening import open_postgres

    return open_postgres(url)


def jsonl(path: Path) -> Store:
    """One message a line, free of any provider; a file for each session, or a folder of files."""
    return MessageLines(path)


class _Line(msgspec.Struct, frozen=True):
    role: str
    blocks: tuple[Block, ...] = ()
    id: str = ""


_decode_line = msgspec.json.Decoder(_Line).decode


class MessageLines:
    """A foreign agent's session: one message a line, as the harness reads it.

    A line is `{"role": …, "blocks": […]}`; an `id` beside them names the inbound message that the
    row keeps. A row is known by its line, so a rewritten row has changed. Lines end with a line
    feed and nothing else: U+2028 inside a text ends none.

    `{session}` in the path stands for the name of a session, and its rows are known to be of that
    session. The files of a folder are read in the order of their names, which name no sessions.
    """

    name = "jsonl"
    by_place = True

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
            yield session_of(found["s"]), file


def _rows(file: Path, prefix: str, session: str) -> Iterator[tuple[StoredRow, Message]]:
    for number, line in enumerate(file.read_bytes().split(b"\n"), start=1):
        try:
            row = _decode_line(line)
        except (msgspec.DecodeError, msgspec.ValidationError):
            continue
        yield stored_row(f"{prefix}{number}", Message(row.role, row.blocks), row.id, session)
