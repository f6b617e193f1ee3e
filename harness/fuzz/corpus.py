"""The corpus: the examples that reached something new, and all that has been reached.

Chunks of one generation see the corpus as it stood at the end of the last generation but one. So
what a chunk draws does not depend on how many workers there are, nor on which was the fastest, and
nobody waits for the slowest chunk of a generation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from random import Random

import msgspec

from harness.fuzz.choices import Choices
from harness.fuzz.novelty import Pair

GENERATION = 32
"""Chunks of a generation; also the most chunks that are worked on at once."""

_RECENT = 64
"""Half of the parents are among so many of the youngest."""


class Entry(msgspec.Struct, frozen=True):
    """An example that was kept: its choices, what it reached, the checks it was not put to."""

    choices: Choices
    pairs: tuple[Pair, ...] = ()
    not_asked: tuple[str, ...] = ()


class Corpus:
    """Entries in the order in which they were kept; `checks` are the names of all checks."""

    def __init__(self, checks: Iterable[str]) -> None:
        self._checks = frozenset(checks)
        self._entries: list[Choices] = []
        self._chunks: list[int] = []
        self._covered: dict[Pair, set[str]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def pairs(self) -> int:
        """How many pairs of a fault and a kind of event have been reached."""
        return len(self._covered)

    @property
    def coverage(self) -> int:
        """How many triples (fault, check, kind of event) have been reached."""
        return sum(map(len, self._covered.values()))

    @property
    def faults(self) -> int:
        """How many kinds of faults have fired."""
        return len({fault for fault, _ in self._covered if fault})

    def take(self, chunk: int, entry: Entry) -> Entry | None:
        """Keep an example if it reached something new; then with what was new alone."""
        asked = self._checks.difference(entry.not_asked)
        new = tuple(p for p in entry.pairs if not asked <= self._covered.get(p, frozenset()))
        if not new:
            return None
        for pair in new:
            self._covered.setdefault(pair, set()).update(asked)
        self._entries.append(entry.choices)
        self._chunks.append(chunk)
        return Entry(entry.choices, new, entry.not_asked)

    def parents(self, chunk: int, random: Random, most: int) -> tuple[Choices, ...]:
        """Some of the entries that this chunk may see, half of them among the youngest."""
        begun = chunk - chunk % GENERATION
        seen = self._entries[: bisect_left(self._chunks, begun - GENERATION)]
        if len(seen) <= most:
            return tuple(seen)
        young = random.sample(seen[-max(_RECENT, most) :], most // 2)
        return tuple(young + random.sample(seen, most - len(young)))
