"""Names under which tools are told to a model.

Tools come from servers of others, and providers take letters, digits, `_` and `-` only, 64 at most,
and no name twice; one tool whose name is refused takes every request with it. A good name is told
as it is. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

LONGEST = 64

_GOOD = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")
_ODD = re.compile(r"[^A-Za-z0-9_-]")


def told(names: Sequence[str]) -> list[str]:
    """For each name one that every provider takes, and no two alike."""
    used = {name for name in names if _GOOD.fullmatch(name)}
    return [name if _GOOD.fullmatch(name) else _made(name, used) for name in names]


def _made(name: str, used: set[str]) -> str:
    """A good name like this one, which is used from now on."""
    like = _ODD.sub("_", name)[:LONGEST] or "tool"
    tails = ("" if n == 1 else f"_{n}" for n in count(1))
    made = next(m for m in (like[: LONGEST - len(t)] + t for t in tails) if m not in used)
    used.add(made)
    return made
