"""Driving steps by hand: which candidates there are when none, or some, are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.shrink.delta_debugging import Candidates, kept_of

_A = TypeVar("_A")


def candidates(steps: Candidates[_A], keeps: Callable[[_A], bool] = lambda _: False) -> list[_A]:
    """Every candidate, in order."""
    seen: list[_A] = []
    last(steps, lambda c: not seen.append(c) and keeps(c))  # type: ignore[func-returns-value]
    return seen


def last(steps: Candidates[_A], keeps: Callable[[_A], bool], start: _A | None = None) -> _A | None:
    """The candidate that was kept last."""
    followed = kept_of(steps, start)
    try:
        candidate = next(followed)
        while True:
            candidate = followed.send(keeps(candidate))
    except StopIteration as done:
        return done.value
