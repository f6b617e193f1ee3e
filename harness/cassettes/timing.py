"""The arrival times of the pieces of a recorded answer, in the file's `metadata`.

vcrpy preserves that key but drops one within an interaction. `BYTES@MS` is bytes of the stored
body, and milliseconds since the piece before. Pieces whose sum is not the body's length belong to
another recording and are ignored. Masking changes lengths but keeps lines, so a boundary in an
event stream stays in its line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Literal

import msgspec

from harness.core.values.messages import Json
from harness.providers.shared.json_fields import mapping, objects

OURS = "loop-harness"
"""The key of ours in the file's `metadata`."""

_RESET = "ReadError"
"""How clients name a connection that was reset while they read."""

_PIECE = re.compile(r"(\d{1,12})@(\d{1,12})")


class Piece(msgspec.Struct, frozen=True):
    """Bytes of a body that came together, `wait_ms` after what came before them."""

    size_bytes: int
    wait_ms: int


class Timing(msgspec.Struct, frozen=True):
    """An exchange in time: when it was asked, since recording began, and how its answer came.

    `cut` says how a body ended that was not whole, "" for one that was.
    """

    at_ms: int
    pieces: tuple[Piece, ...]
    cut: str = ""

    @property
    def ending(self) -> Literal["", "reset", "broken"]:
        """How the connection ended: by a reset, broken off in another way, or with the body."""
        if not self.cut:
            return ""
        return "reset" if self.cut.startswith(_RESET) else "broken"

    def fits(self, body: bytes) -> bool:
        """Whether the pieces are those of this body."""
        return sum(piece.size_bytes for piece in self.pieces) == len(body)


def to_metadata(timings: Iterable[Timing | None]) -> dict[str, Json]:
    """The file's `metadata` for the timings of its exchanges; empty without timings."""
    listed = [_entry(n, t) for n, t in enumerate(timings, start=1) if t is not None]
    return {OURS: {"exchanges": listed}} if listed else {}


def _entry(number: int, timing: Timing) -> dict[str, Json]:
    pieces = " ".join(f"{piece.size_bytes}@{piece.wait_ms}" for piece in timing.pieces)
    entry = {"exchange": number, "at_ms": timing.at_ms, "pieces": pieces}
    return {**entry, "cut": timing.cut} if timing.cut else entry


def from_metadata(metadata: Json) -> dict[int, Timing]:
    """The timings of a file's `metadata` by exchange number; malformed entries are left out."""
    listed = objects(mapping(mapping(metadata).get(OURS)).get("exchanges"))
    found = ((entry.get("exchange"), _timing(entry)) for entry in listed)
    return {n: timing for n, timing in found if isinstance(n, int) and timing is not None}


def _timing(entry: dict[str, Json]) -> Timing | None:
    at_ms, pieces, cut = entry.get("at_ms"), entry.get("pieces"), entry.get("cut", "")
    if not isinstance(at_ms, int) or not isinstance(pieces, str) or not isinstance(cut, str):
        return None
    found = [_PIECE.fullmatch(word) for word in pieces.split()]
    if not all(found):
        return None
    return Timing(at_ms, tuple(Piece(int(m[1]), int(m[2])) for m in found if m), cut)


def refitted(pieces: Sequence[Piece], body: bytes, masked: bytes) -> tuple[Piece, ...]:
    """The pieces of a body as those of the body after masking."""
    if body == masked:
        return tuple(pieces)
    waits = [piece.wait_ms for piece in pieces]
    ends = [_moved(end, body, masked) for end in accumulate(p.size_bytes for p in pieces)]
    known = [end for end in ends if end is not None]
    if not known or len(known) < len(ends):
        return (Piece(len(masked), sum(waits)),)
    sizes = [after - before for before, after in pairwise([0, *known])]
    return tuple(Piece(size, wait) for size, wait in zip(sizes, waits, strict=True))


def _moved(place: int, body: bytes, masked: bytes) -> int | None:
    """A position in the masked body: in the same line, before its end."""
    before, after = _line_starts(body), _line_starts(masked)
    if len(before) != len(after):
        return None
    line = bisect_right(before, place) - 1
    end = after[line + 1] - 1 if line + 1 < len(after) else len(masked)
    return len(masked) if place == len(body) else min(after[line] + place - before[line], end)


def _line_starts(body: bytes) -> list[int]:
    return [0, *(match.end() for match in re.finditer(b"\n", body))]
