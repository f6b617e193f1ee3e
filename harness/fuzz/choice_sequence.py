"""Choice sequences: every generated thing is a function of a sequence of small numbers.

Hypothesis answers a `Choose` by drawing, a campaign from a stored sequence. 0 is the simplest
answer; an optional or repeated part costs one number (0: no). Any tuple is an example: fresh draws
extend a short one, and large numbers are taken modulo n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")


Choose: TypeAlias = Callable[[int], int]
"""Answers a question with `n` answers: a number from 0 to n - 1; 0 is the simplest."""


def pick(choose: Choose, table: Sequence[_T]) -> _T:
    """A row of a table that has its simplest row first."""
    return table[choose(len(table))]


def sometimes(choose: Choose, kinds: int, nothing: int) -> int | None:
    """One of so many kinds, each as likely as the next; None, `nothing` times as likely as one."""
    number = choose(nothing + kinds) - nothing
    return number if number >= 0 else None


def some(choose: Choose, kinds: int, most: int, mean: float) -> Iterator[int]:
    """At most `most` kinds, one number each; after `mean` of them, on average, there are no more.

    The mean is that of an unlimited number; both are of choices that are equally likely.
    """
    nothing = max(1, round(kinds / mean))
    for _ in range(most):
        kind = sometimes(choose, kinds, nothing)
        if kind is None:
            return
        yield kind


Choices: TypeAlias = tuple[int, ...]

LONGEST = 400
"""Numbers of a varied example; what is spliced and spliced again would grow without end."""

_ANY = 1 << 32
"""A number that is drawn before it is known what for: any of these, taken round and round."""


class ChoiceSequence:
    """Answers choices from `given` first, then by drawing; `made` is what was answered."""

    def __init__(self, given: Sequence[int], random: Random) -> None:
        self._given, self._random = given, random
        self.made: list[int] = []

    def __call__(self, n: int, /) -> int:
        """A number from 0 to n - 1."""
        at = len(self.made)
        number = self._given[at] % n if at < len(self._given) else self._random.randrange(n)
        self.made.append(number)
        return number


def mutated(random: Random, parents: Sequence[Choices]) -> Choices:
    """Another example made of one or two of the parents, by one to four changes."""
    choices = random.choice(parents)
    for _ in range(random.randint(1, 4)):
        choices = random.choice(_CHANGES)(random, choices, parents)
    return choices[:LONGEST]


def _change(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Another number in one place."""
    at, _ = _span(random, choices)
    return (*choices[:at], random.randrange(_ANY), *choices[at + 1 :])


def _nudge(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """The neighbouring row of a table in one place."""
    at, _ = _span(random, choices)
    near = max(0, choices[at] + random.choice((-1, 1))) if choices else 0
    return (*choices[:at], near, *choices[at + 1 :])


def _delete(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """A few numbers fewer."""
    start, stop = _span(random, choices)
    return choices[:start] + choices[stop:]


def _insert(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """A few numbers more."""
    at, _ = _span(random, choices)
    fresh = tuple(random.randrange(_ANY) for _ in range(random.randint(1, 4)))
    return choices[:at] + fresh + choices[at:]


def _repeat(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """A part of it once more."""
    start, stop = _span(random, choices)
    return choices[:stop] + choices[start:]


def _splice(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """The beginning of one and the end of another."""
    other = random.choice(parents)
    at = random.randrange(max(1, min(len(choices), len(other))))
    return choices[:at] + other[at:]


def _end(random: Random, choices: Choices, parents: Sequence[Choices]) -> Choices:
    """Only the beginning: the rest is drawn anew."""
    return choices[: random.randrange(max(1, len(choices)))]


_CHANGES: tuple[Callable[[Random, Choices, Sequence[Choices]], Choices], ...] = (
    *(_change, _change, _nudge, _delete, _insert, _repeat, _splice, _end),
)


def _span(random: Random, choices: Choices) -> tuple[int, int]:
    """Where a part of at most eight numbers begins and ends."""
    start = random.randrange(max(1, len(choices)))
    return start, min(len(choices), start + random.randint(1, 8))
