"""The laws of a store reader.

A reader polls a store while the agent writes to it. It loses no row and yields no row twice, also
after a write that broke off. A reader with a cursor reads the same rows as a new reader.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.laws import drawing, law, part_named
from harness.core.history.events import StoredRow
from harness.core.transition.ports import Store
from harness.core.values.errors import InputError
from harness.core.values.messages import Message, assistant, digest, user
from harness.stores.opening import READERS

Rows = list[tuple[StoredRow, Message]]
Add = Callable[[Path, Message], None]
Change = Callable[[Path, int, Message], None]
Remove = Callable[[Path, int], None]

_TEXTS = st.text("abc xyz ü\u2028🦊", min_size=1, max_size=8).map(lambda text: f"say {text}.")
_STEPS = st.tuples(st.sampled_from(["add", "add", "change", "remove"]), st.integers(0, 7), _TEXTS)


def check_store(
    reader: Callable[[Path], Store],
    add: Add,
    *,
    change: Change | None = None,
    remove: Remove | None = None,
    cuts: bool = True,
    examples: int | None = None,
) -> None:
    """Raise AssertionError, with a plain sentence, for a law that a store reader breaks.

    `add(path, message)` writes one message as the agent does; the first call creates the store.
    `change(path, place, message)` and `remove(path, place)` change or remove the message at a
    place, from 0, if the agent can do that. `cuts=False`: the store is not a single file that can
    be cut anywhere.
    """
    part_named(reader, READERS)
    writes = {"add": add, "change": change, "remove": remove}
    possible = _STEPS.filter(lambda step: writes[step[0]] is not None)
    steps = st.lists(possible, min_size=1, max_size=8)

    @drawing(examples)
    @given(steps, st.floats(0, 1, allow_nan=False))
    def holds(steps: list[tuple[str, int, str]], part: float) -> None:
        with tempfile.TemporaryDirectory(prefix="loop-harness-") as folder:
            path = Path(folder) / "store"
            watched = _Watched(reader, path)
            none = watched.look() == []
            law(none, f"{watched.name}: there are rows although nothing was written")
            for number, (kind, place, text) in enumerate(steps):
                message = (assistant if number % 2 else user)(f"{text} {number}")
                _step(watched, writes, kind, place, message)
            if cuts and path.is_file():
                _check_cut(watched, part)
            watched.close()

    holds()


class _Watched:
    """A store, the reader that is open from the beginning, and the rows that it read last."""

    def __init__(self, reader: Callable[[Path], Store], path: Path) -> None:
        self.reader, self.path, self.name = reader, path, reader.__name__
        self._store = reader(path)
        self.rows: Rows = []

    def look(self) -> Rows:
        """Read with the open reader; a second read and a new reader must give the same rows."""
        before = _bytes(self.path)
        self.rows = self._read(self._store)
        law(self._read(self._store) == self.rows, f"{self.name} reads other rows the second time")
        law(self.fresh() == self.rows, f"{self.name}: an open store and a fresh one see other rows")
        law(_bytes(self.path) == before, f"{self.name} writes to the store that it reads")
        ids = [row.id for row, _ in self.rows]
        law(all(ids) and len(ids) == len(set(ids)), f"{self.name}: an id is empty, or occurs twice")
        for row, message in self.rows:
            is_its = row.digest == digest(message)
            law(is_its, f"{self.name}: the digest of row {row.id} is not that of its message")
        return self.rows

    def fresh(self) -> Rows:
        """The rows of a reader that is opened now."""
        store = self.reader(self.path)
        try:
            return self._read(store)
        finally:
            _close(store)

    def _read(self, store: Store) -> Rows:
        try:
            return list(store.read())
        except InputError:
            raise
        except Exception as error:
            law(False, f"{self.name} raises {type(error).__name__}: {error}")
            raise

    def close(self) -> None:
        """Close the open store."""
        _close(self._store)


def _close(store: Store) -> None:
    getattr(store, "close", lambda: None)()


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _step(
    watched: _Watched, writes: Mapping[str, Any], kind: str, place: int, message: Message
) -> None:
    """Write, read, and compare with the rows before."""
    before = _identities(watched.rows)
    place = place % len(before) if before else 0
    if kind == "add" or not before:
        writes["add"](watched.path, message)
        _check_added(watched, before, message)
    elif kind == "change":
        writes["change"](watched.path, place, message)
        _check_changed(watched, before, place)
    else:
        writes["remove"](watched.path, place)
        left = [*before[:place], *before[place + 1 :]]
        is_gone = _identities(watched.look()) == left
        law(is_gone, f"{watched.name}: one row was removed, but the rows that are gone differ")


def _identities(rows: Sequence[tuple[StoredRow, Message]]) -> list[tuple[str, str]]:
    return [(row.id, row.digest) for row, _ in rows]


def _check_added(watched: _Watched, before: list[tuple[str, str]], message: Message) -> None:
    rows = watched.look()
    now = _identities(rows)
    law(now[: len(before)] == before, f"{watched.name}: a row was added, and earlier rows changed")
    law(
        len(now) == len(before) + 1,
        f"{watched.name}: one message was added, but the number of new rows is not one",
    )
    same = message.text in rows[-1][1].text
    law(same, f"{watched.name}: the text of the new row is {rows[-1][1].text!r}: {message.text!r}")


def _check_changed(watched: _Watched, before: list[tuple[str, str]], place: int) -> None:
    now = _identities(watched.look())
    ids = [name for name, _ in now] == [name for name, _ in before]
    law(ids, f"{watched.name}: a row was changed in place, and the ids changed")
    differ = [n for n, (old, new) in enumerate(zip(before, now, strict=True)) if old != new]
    law(differ == [place], f"{watched.name}: one row was changed, but the changed digests differ")


def _check_cut(watched: _Watched, part: float) -> None:
    """Cut the store, as during a write: the reader must show no false row and lose none."""
    whole, ids = watched.path.read_bytes(), {row.id for row, _ in watched.rows}
    watched.path.write_bytes(whole[: round(part * len(whole))])
    for look in (watched.fresh, watched.look):
        try:
            seen = {row.id for row, _ in look()}
        except InputError:
            continue
        law(seen <= ids, f"{watched.name}: in a cut file it reads a row that does not exist")
    watched.path.write_bytes(whole)
    law({row.id for row, _ in watched.look()} == ids, f"{watched.name}: after a cut, rows are lost")
