"""The marks that authors write into the agent's code: what each kind says, how large one may be.

The words are those of Antithesis, so a program that has its SDK needs no change. `always` and
`unreachable` break; `sometimes` and `reachable` are owed by a campaign, never by one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Literal, TypeAlias

import msgspec

from harness.core.values.messages import Json

MarkKind: TypeAlias = Literal["always", "sometimes", "reachable", "unreachable"]

MEANINGS: Mapping[MarkKind, str] = {
    "always": "did not hold",
    "sometimes": "holds in some run",
    "reachable": "is reached in some run",
    "unreachable": "was reached",
}
"""What breaks a mark of a kind, or what a campaign owes it."""

LOCAL_OUTPUT = "ANTITHESIS_SDK_LOCAL_OUTPUT"
"""The variable with the file into which a program writes its marks, one JSON object a line."""

NAME_MOST, TEXT_MOST, PARTS_MOST, DEPTH_MOST = 200, 500, 100, 4
"""The most characters of a name and of a text, and the most values and levels in details."""

_INT_MOST = 1 << 63

_BREAKING: tuple[MarkKind, ...] = ("always", "unreachable")


class Mark(msgspec.Struct, frozen=True):
    """A mark as the agent's code came to it.

    `holds`: whether what its author believes is so; None where the code only declares the mark.
    `where` is `FILE:LINE in FUNCTION`.
    """

    kind: MarkKind
    name: str
    holds: bool | None = None
    details: Json = None
    where: str = ""


def is_broken(kind: MarkKind, holds: bool | None) -> bool:
    """Whether the code shows that its author was wrong."""
    return holds is False and kind in _BREAKING


def is_met(kind: MarkKind, holds: bool | None) -> bool:
    """Whether the code came to what the mark names; a broken one was come to as well."""
    return holds is True or is_broken(kind, holds)


def is_owed(kind: MarkKind) -> bool:
    """Whether a campaign that never came to the mark has missed something."""
    return kind != "unreachable"


def bounded(value: object, cut: Callable[[str], str]) -> Json:
    """Details as JSON of bounded size, their texts made short by `cut`.

    No text of the user's objects is asked for: it could raise, or name an address in memory.
    """
    try:
        return _Bounds(cut).part(value, 0)
    except Exception:  # a mapping of the user's own may raise anything
        return "(details that cannot be read)"


class _Bounds:
    """The values of one mark's details, as far as there is room for them."""

    def __init__(self, cut: Callable[[str], str]) -> None:
        self._cut, self._left = cut, PARTS_MOST

    def part(self, value: object, depth: int) -> Json:
        self._left -= 1
        match value:
            case None | bool():
                return value
            case str():
                return self._cut(str.__str__(value))
            case int() if -_INT_MOST <= value < _INT_MOST:
                return int.__int__(value)
            case float():
                return (
                    float.__float__(value) if abs(value) < float("inf") else float.__repr__(value)
                )
            case Mapping() if depth < DEPTH_MOST:
                named = islice(value.items(), max(self._left, 0))
                return {self._cut(str(key)): self.part(item, depth + 1) for key, item in named}
            case list() | tuple() if depth < DEPTH_MOST:
                return [self.part(item, depth + 1) for item in islice(value, max(self._left, 0))]
        return f"({type(value).__name__})"
