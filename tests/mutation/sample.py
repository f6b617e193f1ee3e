"""Draws the mutants that are played: as many from a room as it has lines, one from a place.

The order of the draw is the order of play. The first mutants of a sample are the sample of a
smaller number.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.mutation.places import Places, Position

ROOMS = ("core", "checks", "providers", "faults")

LEFT_OUT = {
    r"ReplaceComparisonOperator_\w+_Is(Not)?": "whether equal values are one object is Python's",
    r"ReplaceComparisonOperator_Is(Not)?_\w+": "`is None` and `== None` are the same for our types",
}
"""Operators that are not drawn, and why; what swaps `is` and `is not` is."""

DRAWN = {"ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is"}


class CodeMutant(NamedTuple):
    """A change that an operator of cosmic-ray makes: its `occurrence`-th place in the file."""

    file: str
    operator: str
    occurrence: int
    start: Position
    end: Position

    @property
    def room(self) -> str:
        """The room of the file: `harness/ROOM/...`."""
        return self.file.split("/")[1]

    @property
    def name(self) -> str:
        """The operator's own name, without its provider."""
        return self.operator.rpartition("/")[2]


def matters(mutant: CodeMutant, places: Places) -> bool:
    """Whether the mutant is one that a test could notice."""
    name = mutant.name
    if name not in DRAWN and any(re.fullmatch(pattern, name) for pattern in LEFT_OUT):
        return False
    if name.startswith("ReplaceBinaryOperator") and not places.is_operator(mutant.start):
        return False
    return places.is_read(mutant.start)


def drawn(
    mutants: Iterable[CodeMutant], lines: Mapping[str, int], seed: int
) -> Iterator[CodeMutant]:
    """All places in the order of the draw, with one mutant each; rooms share by their `lines`."""
    draws = random.Random(seed)
    places: dict[str, dict[tuple[str, Position], list[CodeMutant]]] = defaultdict(dict)
    for mutant in sorted(mutants):
        places[mutant.room].setdefault((mutant.file, mutant.start), []).append(mutant)
    left = {room: draws.sample(list(found), len(found)) for room, found in sorted(places.items())}
    taken: Counter[str] = Counter()
    while rooms := [room for room in left if left[room]]:
        room = min(rooms, key=lambda room: (taken[room] + 1) / lines[room])
        taken[room] += 1
        yield draws.choice(places[room][left[room].pop()])
