"""Two ways to make the same calls, measured pair by pair.

A machine that is busy for a while is busy for both of a pair. Which one comes first is drawn by
lot: the garbage collector has a rhythm, and in a fixed order its pauses fall on one side.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_LOTS = random.Random(0)
_T = TypeVar("_T")


def seconds(
    one: Callable[[_T], None], other: Callable[[_T], None], calls: Iterable[_T]
) -> Iterator[tuple[float, float]]:
    """What each call took the one way and the other, without the first, which only warms up."""
    both = (one, other)
    gc.collect()
    for turn, call in enumerate([*calls]):
        spent = [0.0, 0.0]
        for which in (0, 1) if _LOTS.random() < 0.5 else (1, 0):
            began = time.perf_counter()
            both[which](call)
            spent[which] = time.perf_counter() - began
        if turn:
            yield spent[0], spent[1]
