"""How long, for people: `300 ms`, `1.5 s`, `3 min`, `2 h 30 min`. Never `3.6e+06 ms`."""

from __future__ import annotations

import math
from itertools import pairwise

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def time_words(seconds: float) -> str:
    """Return a time in one unit or two, to three figures below a minute.

    >>> [time_words(value) for value in (0, 0.3, 1.25, 60, 5400, 3600, 90061, math.inf)]
    ['0 s', '300 ms', '1.25 s', '1 min', '1 h 30 min', '1 h', '1 d 1 h', 'for ever']
    """
    if math.isinf(seconds):
        return "for ever"
    if 0 < seconds < 1:
        return f"{round(seconds * 1000, 3):g} ms"
    if seconds < 60:
        return f"{round(seconds, 3):g} s"
    whole = round(seconds)
    (name, size), (smaller, part) = next(pair for pair in pairwise(_UNITS) if whole >= pair[0][1])
    number, rest = divmod(round(whole / part), size // part)
    return f"{number} {name}" + (f" {rest} {smaller}" if rest else "")
