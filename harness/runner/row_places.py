"""Gives the rows of a file without ids names that they keep when rows before them come or go.

Such a row is known by its place. An agent that repairs its file in the middle would otherwise seem
to change each row behind it, and to store the newest ones twice.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain, takewhile

import msgspec

from harness.core.history.events import StoredRow
from harness.core.values.messages import Message

Rows = Sequence[tuple[StoredRow, Message]]


def in_their_places(rows: Rows, known: Mapping[str, str]) -> Rows:
    """The rows under the names that the same rows had at the look before; `known` has its digests.

    A row that stands where another one stood has the other one's name: it has changed.
    """
    if all(known.get(row.id) == row.digest for row, _ in rows[: len(known)]):
        return rows
    files = dict.fromkeys(_file(row.id) for row, _ in rows if _PLACE.search(row.id))
    before, now = defaultdict[str, list[str]](list), defaultdict[str, list[StoredRow]](list)
    for name in filter(_PLACE.search, known):
        before[_file(name)].append(name)
    for row, _ in rows:
        now[_file(row.id)].append(row)
    named = (_named(now[file], file, sorted(before[file], key=_order), known) for file in files)
    names = dict(chain.from_iterable(named))
    return [(msgspec.structs.replace(r, id=names.get(r.id, r.id)), message) for r, message in rows]


def _named(
    rows: list[StoredRow], file: str, old: list[str], known: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Each row's place in a file, and its name; `old` are the names that the file had, in order."""
    before, after = [known[name] for name in old], [row.digest for row in rows]
    pairs = zip(before, after, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    for row, name in zip(rows[:same], old, strict=False):
        yield row.id, name
    # Only what differs is compared: the rest of a long file costs nothing. The comparison grows
    # with the square of equal rows, so a long list that was rewritten keeps its places.
    if max(len(before), len(after)) - same > _MOST:
        return
    matcher = SequenceMatcher(None, before[same:], after[same:], autojunk=False)
    changes = [c for c in matcher.get_opcodes() if c[0] != "insert"]
    highest = max((_order(name)[0] for name in old), default=0)
    left = defaultdict[str, list[str]](list)  # the names of rows that are gone from their places
    for _, i, j, first, last in changes:
        for name in old[same + i : same + j][last - first :]:
            left[known[name]].append(name)
    for _, i, j, first, last in matcher.get_opcodes():
        kept = old[same + i : same + j][: last - first]
        new = rows[same + first + len(kept) : same + last]
        for row, name in zip(rows[same + first :], kept, strict=False):
            yield row.id, name
        behind = kept[-1] if kept else old[same + i - 1] if same + i else f"{file}0"
        is_end = same + j == len(old)
        while any(f"{behind}.{n}" in known for n in range(1, len(new) + 1)):
            behind += ".0"  # rows were put in here before; this sorts before their names
        for n, row in enumerate(new, 1):
            place = f"{file}{highest + n}" if is_end else f"{behind}.{n}"
            # An agent that writes the sessions of a file one after the other moves rows.
            yield row.id, left[row.digest].pop(0) if left[row.digest] else place


def _file(name: str) -> str:
    """The name without the place."""
    folder, slash, _ = name.rpartition("/")
    return folder + slash


def _order(name: str) -> list[int]:
    return [int(part) for part in name.rpartition("/")[2].split(".")]


_MOST = 1_000
"""How many rows that differ are compared at most."""

_PLACE = re.compile(r"(?:^|/)\d+(\.\d+)*$")
