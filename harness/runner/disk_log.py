"""An event log with its older part on disk, so that memory use is constant.

The newest events stay in memory, because transports look back a little. Older ones go to an unnamed
database that the run deletes; a short run writes none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from operator import eq
from typing import Any, TypeVar, cast, overload

from harness.core.history.event_log import decode_event, encode_event
from harness.core.history.events import AnyEvent, Noted, Valued
from harness.core.values.messages import Json, Message

IN_MEMORY_MAX = 20_000
"""The most events in memory; beyond it the older half moves to disk together."""

_Value = TypeVar("_Value")

_TABLES = """
    pragma journal_mode = off;
    pragma synchronous = off;
    create table events (place integer primary key, line blob not null);
    create table named (digest text, kind text, place integer not null, primary key (kind, digest))
        without rowid;
"""


class DiskLog:
    """The events of one run and the values they name: an `EventLog`."""

    def __init__(self, in_memory_max: int = IN_MEMORY_MAX) -> None:
        self._disk: sqlite3.Connection | None = None
        self.messages: DiskValues[Message] = DiskValues(self, "message")
        self.values: DiskValues[Json] = DiskValues(self, "value")
        self.events = DiskEvents(self, in_memory_max)

    def keep(self, first: int, events: list[AnyEvent]) -> None:
        """Move events to the disk; the first one has the place `first`."""
        disk = self._disk or self._opened()
        lines = [(place, encode_event(event)) for place, event in enumerate(events, first)]
        named = [(first + i, e) for i, e in enumerate(events) if isinstance(e, (Noted, Valued))]
        rows = [(e.digest, self._names(e).kind, place) for place, e in named]
        with disk:
            disk.executemany("insert into events values (?, ?)", lines)
            disk.executemany("insert or ignore into named values (?, ?, ?)", rows)
        for _, event in named:
            self._names(event).forget(event.digest)

    def _names(self, event: Noted | Valued) -> DiskValues[Any]:
        return self.messages if isinstance(event, Noted) else self.values

    def event(self, place: int) -> AnyEvent:
        """Return the event at a place on disk."""
        return decode_event(self._rows("select line from events where place = ?", place)[0][0])

    def between(self, first: int, end: int) -> Iterator[AnyEvent]:
        """Return the events on disk from one place on, up to another (exclusive)."""
        for start in range(first, end, 1000):
            span = start, min(start + 1000, end)
            sql = "select line from events where place >= ? and place < ? order by place"
            for (line,) in self._rows(sql, *span):
                yield decode_event(line)

    def place_of(self, kind: str, digest: str) -> int | None:
        """Return the place of the event that holds a value, if it is on disk."""
        if self._disk is None:
            return None
        rows = self._rows("select place from named where kind = ? and digest = ?", kind, digest)
        return rows[0][0] if rows else None

    def digests(self, kind: str) -> list[str]:
        """Return the digests of a kind that are on disk, in order."""
        rows = self._rows("select digest from named where kind = ? order by place", kind)
        return [digest for (digest,) in rows]

    def _rows(self, sql: str, *arguments: object) -> list[Any]:
        return self._disk.execute(sql, arguments).fetchall() if self._disk else []

    def _opened(self) -> sqlite3.Connection:
        self._disk = sqlite3.connect("", check_same_thread=False, cached_statements=8)
        self._disk.executescript(_TABLES)
        return self._disk


class DiskEvents(Sequence[AnyEvent]):
    """The events in order, with the newest in memory."""

    def __init__(self, disk: DiskLog, in_memory_max: int) -> None:
        self._disk, self._max = disk, in_memory_max
        self._first, self._newest = 0, cast(list[AnyEvent], [])

    def append(self, event: AnyEvent) -> None:
        """Add an event at the end."""
        self._newest.append(event)
        if len(self._newest) > self._max:
            count = len(self._newest) // 2
            self._disk.keep(self._first, self._newest[:count])
            del self._newest[:count]
            self._first += count

    def __len__(self) -> int:
        return self._first + len(self._newest)

    def __iter__(self) -> Iterator[AnyEvent]:
        place = 0
        while place < len(self):
            if place < self._first:
                for event in self._disk.between(place, self._first):
                    yield event
                    place += 1
            else:
                there = self._newest[place - self._first :]  # they may move to disk in the meantime
                yield from there
                place += len(there)

    @overload
    def __getitem__(self, index: int, /) -> AnyEvent: ...

    @overload
    def __getitem__(self, index: slice, /) -> list[AnyEvent]: ...

    def __getitem__(self, index: int | slice, /) -> AnyEvent | list[AnyEvent]:
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        place = range(len(self))[index]
        if place >= self._first:
            return self._newest[place - self._first]
        return self._disk.event(place)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DiskEvents | list):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class DiskValues(Mapping[str, _Value]):
    """Values of one kind by digest: in memory as long as their event is."""

    def __init__(self, disk: DiskLog, kind: str) -> None:
        self._disk, self.kind = disk, kind
        self._newest: dict[str, _Value] = {}

    def forget(self, digest: str) -> None:
        """Drop the value from memory, because its event is on disk now."""
        self._newest.pop(digest, None)

    def __contains__(self, digest: object, /) -> bool:
        return digest in self._newest or self._place(str(digest)) is not None

    def __getitem__(self, digest: str, /) -> _Value:
        if (value := self._newest.get(digest)) is not None:
            return value
        place = self._place(digest)
        if place is None:
            raise KeyError(digest)
        return cast(_Value, cast(Noted | Valued, self._disk.event(place)).value)

    def __setitem__(self, digest: str, value: _Value, /) -> None:
        self._newest[digest] = value

    def __iter__(self) -> Iterator[str]:
        yield from self._disk.digests(self.kind)
        yield from list(self._newest)

    def __len__(self) -> int:
        return len(self._disk.digests(self.kind)) + len(self._newest)

    def _place(self, digest: str) -> int | None:
        return self._disk.place_of(self.kind, digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
