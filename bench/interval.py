"""The median of some measures, and the interval in which it lies with 95 % confidence.

The interval is that of the sign test: it stands between two of the measures, and asks nothing of
how they are spread. Figures of a shared machine have long tails, which a mean would follow.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import NamedTuple

DOUBT = 0.05


class Interval(NamedTuple):
    """A median, and its bounds."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.low:.2f}, {self.high:.2f}]"


def interval(measures: Iterable[float]) -> Interval:
    """The median of six measures or more; of fewer the bounds are the least and the most."""
    ordered = sorted(measures)
    count, rank, tail = len(ordered), 0, 0.0
    for below in range(count // 2):
        tail += math.comb(count, below) / 2**count
        if 2 * tail > DOUBT:
            break
        rank = below
    return Interval(ordered[rank], statistics.median(ordered), ordered[count - 1 - rank])
