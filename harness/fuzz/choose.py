"""Choices: the one question that everything generated asks, whoever answers it.

A grammar is a function of a `Choose`, which answers "which of n?" with a number. Hypothesis
answers by drawing, a campaign from numbers that it keeps and varies: the tables are the same.
0 is the simplest answer everywhere, so both make things simpler by making numbers smaller and
sequences shorter. What is optional or repeated is one number each (0: no, or no more), so that it
goes away with that number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

_T = TypeVar("_T")


class Choose(Protocol):
    """Answers a question with `n` answers."""

    def __call__(self, n: int, /) -> int:
        """A number from 0 to n - 1; 0 is the simplest."""
        ...


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
