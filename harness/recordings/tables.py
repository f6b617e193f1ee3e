"""What a reader of another program's database is given: its plain tables, by their names.

A reader is pure, so it asks these two questions of a part that opened the database. The database is
untrusted: a table, a column or a value may be missing, or of any type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from harness.core.values.errors import InputError
from harness.recordings.session_log import MAX_KEPT_BYTES
from harness.recordings.transcripts import Recording, Refusal, Transcript

MAGIC = b"SQLite format 3\0"
"""How every SQLite database begins."""

Row = Mapping[str, Any]
"""A row by the names of its columns: texts, numbers, bytes, None."""


class Tables(Protocol):
    """The plain tables of a database that is open for reading; views are not among them."""

    def columns(self, table: str) -> Collection[str]:
        """The columns of a table; none for a table that is not there."""
        ...

    def rows(self, table: str, wanted: Sequence[str], order: Sequence[str]) -> Iterator[Row]:
        """The rows of a table, one at a time, with the wanted columns that it has, ordered by
        columns. Raises InputError for one to order by that is not there."""
        ...


def has(tables: Tables, table: str, *names: str) -> bool:
    """Whether a table is there with these columns."""
    return set(names) <= set(tables.columns(table)) and bool(names)


def bounded(rows: Iterator[Row], table: str) -> Iterator[Row]:
    """The rows; raises InputError at the row with which there is more text than can be held."""
    size_bytes = 0
    for row in rows:
        size_bytes += sum(len(value) for value in row.values() if isinstance(value, (str, bytes)))
        if size_bytes > MAX_KEPT_BYTES:
            what = f"more than {MAX_KEPT_BYTES // 1024**2} MB of messages"
            raise InputError(what, f"{table}, row {row.get('id')}")
        yield row


def named(name: str, found: Transcript | None, session: str) -> Transcript | Refusal:
    """A transcript with the agent's own name of its session; a refusal where there is none."""
    if found is None:
        return Refusal(name, "no message is in the session")
    return msgspec.structs.replace(found, session=session)


def sessions(found: Iterable[Transcript | Refusal]) -> Recording:
    """The recording of a database's sessions; raises InputError when none of them can be read."""
    every = tuple(found)
    transcripts = tuple(one for one in every if isinstance(one, Transcript))
    refusals = tuple(one for one in every if isinstance(one, Refusal))
    if not transcripts:
        first = next(iter(refusals), Refusal("", "the database holds no session"))
        raise InputError(first.reason, first.place, more=first.more)
    return Recording(transcripts, refusals)
