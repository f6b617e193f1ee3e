"""A database of any program whose sessions are recordings, as a store: read while the agent writes.

One reader serves a finished incident and a running agent. A row is a message of a session; its id
is its place, because a framework may write the whole state again for each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

from harness.core.history.events import StoredRow
from harness.core.transition.ports import Store
from harness.core.values.errors import InputError
from harness.core.values.messages import Message
from harness.recordings.recognition import formats
from harness.recordings.transcripts import Transcript
from harness.stores.plain_tables import PlainTables, opened
from harness.stores.session_store import stored_row


def database(path: Path) -> Store:
    """A SQLite database that `judge` reads: of opencode, LangGraph, google-adk, agno."""
    return DatabaseStore(path)


class DatabaseStore:
    """A `Store` over the sessions of a database; a file that is not there yet is empty.

    Sessions that the agent named itself have these names. Beside them those without a name, such as
    the graphs inside of a graph, are parts of others.
    """

    name = "database"
    by_place = True

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every message of every session in order. Raises InputError for a file that is not a
        database, and for one that no format reads."""
        if not self._path.exists() or not self._path.stat().st_size:
            return []
        with opened(self._path, live=True) as db:
            found = _transcripts(PlainTables(db))
        own = [one for one in found if one.session]
        return [row for one in own or found for row in _rows(one)]


def _transcripts(tables: PlainTables) -> Sequence[Transcript]:
    for kind in formats().values():
        try:
            found = kind.read_tables(tables)
        except InputError:  # its tables, and nothing in them yet
            return ()
        if found is not None:
            return found.transcripts
    if tables.is_empty():
        return ()
    raise InputError("no format reads this database: `harness list formats` names those that do")


def _rows(transcript: Transcript) -> Iterator[tuple[StoredRow, Message]]:
    for number, message in enumerate(transcript.messages, start=1):
        yield stored_row(f"{transcript.name}/{number}", message, session=transcript.session)
