"""Choice sequences: all generated values are functions of a sequence of small numbers.

Hypothesis answers a `Choose` by drawing, a campaign from a stored sequence. 0 is the simplest
answer. An optional or repeated part takes one number (0: no). Any tuple is an example: new draws
extend a short one, and large numbers are taken modulo n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")


Choose: TypeAlias = Callable[[int], int]
"""Chooses one of `n` answers: returns a number from 0 to n - 1; 0 is the simplest."""


def pick(choose: Choose, table: Sequence[_T]) -> _T:
    """Return a row of a table that has its simplest row first."""
    return table[choose(len(table))]


def sometimes(choose: Choose, kinds: int, nothing: int) -> int | None:
    """Return one of `kinds` equally likely kinds, or None, `nothing` times as likely as one."""
    number = choose(nothing + kinds) - nothing
    return number if number >= 0 else None


def some(choose: Choose, kinds: int, most: int, mean: float) -> Iterator[int]:
    """Return at most `most` kinds, one number each, `mean` of them on average.

    The mean is for an unlimited number, with equally likely choices.
    """
    nothing = max(1, round(kinds / mean))
    for _ in range(most):
        kind = sometimes(choose, kinds, nothing)
        if kind is None:
            return
        yield kind


Choices: TypeAlias = tuple[int, ...]

LONGEST = 400
"""The most numbers of a mutated example; repeated splicing would grow it without limit."""

_ANY = 1 << 32
"""The range of a number that is drawn before its use is known; its use takes it modulo n."""


class ChoiceSequence:
    """Answers choices from `given` first, then by drawing; `made` holds the answers."""

    def __init__(self, given: Sequence[int], random: Random) -> None:
        self._given, self._random = given, random
        self.made: list[int] = []

    def __call__(self, n: int, /) -> int:
        """Return a number from 0 to n - 1."""
        at = len(self.made)
        number = self._given[at] % n if at < len(self._given) else self._random.randrange(n)
        self.made.append(number)
        return number


def mutated(random: Random, parents: Sequence[Choices]) -> Choices:
    """Return a new example made of one or two parents, by one to four changes."""
    choices = random.choice(parents)
    for _ in range(random.randint(1, 4)):
        choices = random.choice(_CHANGES)(random, choices, parents)
    return choices[:LONGEST]


def _change(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Replace the number at one place."""
    at, _ = _span(random, choices)
    return (*choices[:at], random.randrange(_ANY), *choices[at + 1 :])


def _nudge(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Replace one number by a neighbouring one: the next row of a table."""
    at, _ = _span(random, choices)
    near = max(0, choices[at] + random.choice((-1, 1))) if choices else 0
    return (*choices[:at], near, *choices[at + 1 :])


def _delete(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Remove a few numbers."""
    start, stop = _span(random, choices)
    return choices[:start] + choices[stop:]


def _insert(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Insert a few numbers."""
    at, _ = _span(random, choices)
    fresh = tuple(random.randrange(_ANY) for _ in range(random.randint(1, 4)))
    return choices[:at] + fresh + choices[at:]


def _repeat(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Repeat a part."""
    start, stop = _span(random, choices)
    return choices[:stop] + choices[start:]


def _splice(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Join the beginning of one parent and the end of another."""
    other = random.choice(parents)
    at = random.randrange(max(1, min(len(choices), len(other))))
    return choices[:at] + other[at:]


def _end(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Keep only the beginning; the rest is drawn again."""
    return choices[: random.randrange(max(1, len(choices)))]


_CHANGES: tuple[Callable[[Random, Choices, Sequence[Choices]], Choices], ...] = (
    *(_change, _change, _nudge, _delete, _insert, _repeat, _splice, _end),
)


def _span(random: Random, choices: Choices) -> tuple[int, int]:
    """Return the start and end of a part of at most eight numbers."""
    start = random.randrange(max(1, len(choices)))
    return start, min(len(choices), start + random.randint(1, 8))
