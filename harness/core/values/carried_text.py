r"""Whether a text that is sent on holds what was said: the relation *carried*.

An agent may write the same value otherwise: as JSON, YAML or a table, with other white space,
without colours, with words around it. So both texts are compared as `spelt_text.py` spells them.

All words of a text must stand there in a row. Or its pieces must: each line or cell, and of a long
line each 20 characters, in their order and as often as they were said. So a piece that is dropped,
changed, moved or said once for twice is lost, and words may stand between two pieces. The values of
JSON come by value: their names may be others, and the fields of an object may come in any order. So
may the cells of a row, and lines `name: value`. A number may be written as `1` for `1.0`. The
elements of a list keep their order. An empty value and `null` may be left out, as serialisers do.

Where the writing leaves room, the agent has the benefit. A sign that is writing may be lost, and a
number in prose may lose its thousands commas. A text over 40,000 characters that is written
otherwise is looked for by a sample of its pieces, and all of its beginning.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias
from zlib import crc32

from harness.core.values.spelt_text import Spelt as Spelt

Part: TypeAlias = Literal["whole", "head", "middle", "end"]
"""A part of a text that may be lost; `whole` if the text is short, or if nothing of it is left."""

LEAST_CHARACTERS = 4
"""A shorter text stands in many others by chance, so nothing is asked of it."""

WHOLE_CHARACTERS, PIECE_CHARACTERS = 60, 20
"""Up to how many characters a text is lost as a whole, and how long a piece of a line is."""

_LONG_WORD = 40
"""From this length on, a word is looked for in pieces."""

_COMPLETE, _SAMPLED = 2_000, 40_000
"""How many characters of a text are always looked for, and from which length on a sample is."""

_MISSES = 100
"""After this number of lost pieces the rest counts as lost: each is searched to the end."""

_LOOSE = 20
"""A text of this length may touch other words, as blocks do that are joined."""

_NAMED = re.compile(r"[ \t]*(?:- )?([^\W\d][\w .-]{0,40}?)[ \t]*[:=][ \t]+(\S.*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?(?:[eE][-+]?[0-9]{1,3})?")


class _Number(str):
    """A number of JSON, as it is written there."""


class _Fields(list[tuple[str, object]]):
    """The fields of an object of JSON. A name may come twice, and a mapping would lose the first
    of them."""


class _Piece(NamedTuple):
    """Words that stand in a row. A word may have been cut at an end of it that is open."""

    text: str
    opens: bool = False
    ends: bool = False


class _Any(tuple["_Shape", ...]):
    """Parts that may come in any order."""


_Shape: TypeAlias = "_Piece | list[_Shape] | _Any | _Number"
"""What is looked for: a list in its order."""


def is_asked(said: str) -> bool:
    """Whether a text is long enough that another one does not hold it by chance."""
    return len(Spelt(said).plain) >= LEAST_CHARACTERS


def lost_parts(said: str, sent: str | Spelt, *, least: int = LEAST_CHARACTERS) -> tuple[Part, ...]:
    """The parts of `said` that `sent` does not hold; () if the text is carried, or shorter than
    `least`.

    >>> lost_parts('{"level": 1.0, "bowl": "full"}', "bowl: full, level: 1")
    ()
    >>> lost_parts("The cat eats. " * 9 + "The dog waits outside.", "The cat eats. " * 9)
    ('end',)
    >>> lost_parts("It is -40 degrees.", "It is 40 degrees.")
    ('whole',)
    """
    sent = Spelt(sent) if isinstance(sent, str) else sent
    if said in sent.text and (
        not said or _end_of(sent.text, _Piece(said), loose=_is_loose(said)) >= 0
    ):
        return ()
    spelt = Spelt(said)
    if len(spelt.plain) < least:
        return ()
    found: list[list[bool]] = []
    shape: _Shape | None = None
    for row in sent.all_rows:
        if any(_end_of(row, _Piece(w.strip()), loose=_is_loose(said)) >= 0 for w in spelt.rows):
            return ()
        shape = shape if shape is not None else _shape(said, spelt)
        search = _Search(row, len(said))
        search.take(shape, 0)
        if all(search.found):
            return ()
        found.append(search.found)
    joined = spelt.without_commas, sent.without_commas
    if joined != (spelt, sent) and not lost_parts(joined[0].text, joined[1], least=least):
        return ()
    return _parts(max(found, key=sum), len(spelt.plain))


def own_words(sent: Spelt, said: Spelt) -> list[str]:
    """The words of a text that another one does not hold in any case of letters, with any signs
    and accents: so a word that was only changed is not one."""
    known = _bare(said.plain)
    return [word for word in sent.words if (bare := _bare(word)) and bare not in known]


def _bare(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text[:_SAMPLED]) if not text.isascii() else text
    return "".join(filter(str.isalnum, letters.casefold()))


def _is_loose(said: str) -> bool:
    return len(said) >= _LOOSE


def _parts(found: list[bool], length: int) -> tuple[Part, ...]:
    """The parts in which pieces are lost. The middle is lost if its piece is, or a piece that
    stands between two others."""
    if length <= WHOLE_CHARACTERS or not any(found):
        return ("whole",)
    first, last = found.index(True), len(found) - 1 - found[::-1].index(True)
    lost: dict[Part, bool] = {
        "head": not found[0],
        "middle": not found[len(found) // 2] or not all(found[first:last]),
        "end": not found[-1],
    }
    return tuple(part for part, is_lost in lost.items() if is_lost)


def _end_of(row: str, piece: _Piece, start: int = 0, *, loose: bool = False) -> int:
    """Where a piece ends that stands by itself in a text, from a place on; -1 if it does not."""
    words = piece.text
    while (at := row.find(words, start)) >= 0:
        end = at + len(words)
        begins = piece.opens or at == 0 or _is_edge(row[at - 1], words[0], loose)
        if begins and (piece.ends or end == len(row) or _is_end(row, end, loose)):
            return end
        start = at + 1 if len(words) < _LONG_WORD else end
    return -1


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter in "$%&@#" or not (letter.isascii() or letter.isspace())


def _is_edge(before: str, first: str, loose: bool) -> bool:
    """Whether words may begin after a character. A sign before a number is a part of it."""
    if _is_word(before):
        return loose and not (before.isdigit() and first.isdigit())
    return before not in "-+.<>~/:=\\" or not (first.isdigit() or not _is_word(first))


def _is_end(row: str, end: int, loose: bool) -> bool:
    """Whether words may end before a character. `1` does not end before `.5`, nor `C` in `C++`."""
    last, after = row[end - 1], row[end]
    if _is_word(after):
        return loose and not (last.isdigit() and after.isdigit())
    if last.isdigit() and after in ".,:/-":
        return not row[end + 1 : end + 2].isdigit()
    return after != "+"


class _Search:
    """Looks for the pieces of a text in another, and keeps which of them it found."""

    def __init__(self, row: str, size: int) -> None:
        self.row, self.size = row, size
        self.found: list[bool] = []
        self._at = self._misses = 0

    def take(self, shape: _Shape, start: int) -> int:
        """Look for a shape from a place on; return the place where it ends."""
        if isinstance(shape, _Any):
            return max([self.take(part, start) for part in shape], default=start)
        if isinstance(shape, list):
            for part in shape:
                start = self.take(part, start)
            return start
        if isinstance(shape, _Number):
            return self._note([_Piece(form) for form in _forms(shape)], start)
        return self._note([shape], start)

    def _note(self, forms: list[_Piece], start: int) -> int:
        self._at += len(forms[0].text)
        share = self.size // _SAMPLED + 1
        is_inner = _COMPLETE < self._at < self.size - _COMPLETE
        if is_inner and share > 1 and crc32(forms[0].text.encode("utf-8", "replace")) % share:
            return start
        ends = [] if self._misses > _MISSES else [_end_of(self.row, f, start) for f in forms]
        end = min((end for end in ends if end >= 0), default=-1)
        self.found.append(end >= 0)
        self._misses += end < 0
        return max(end, start)


def _forms(number: str) -> list[str]:
    """How a number may be written: as it is, shortest, as a float, with thousands commas."""
    value = Decimal(number)
    shortest = f"{value.normalize():f}" if abs(value.adjusted()) < _LONG_WORD else number
    forms = [number, shortest, shortest + ".0" * ("." not in shortest), f"{Decimal(shortest):,}"]
    if float(number) == value or Decimal(repr(float(number))) == value:
        forms.append(repr(float(number)))
    return [words for form in dict.fromkeys(forms) if (words := " ".join(Spelt(form).words))]


def _shape(said: str, spelt: Spelt) -> _Shape:
    """What is looked for of a text: its values, its cells, its named values, or its lines."""
    if said.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            value = json.loads(
                said, parse_int=_Number, parse_float=_Number, object_pairs_hook=_Fields
            )
            # Of an object of empty values only its names are left to ask for, in any order.
            names = [name for name, _ in value] if isinstance(value, _Fields) else []
            if shape := _of_value(value, 0) or _Any(map(_cell, filter(str.strip, names))):
                return shape
    lines = [line for line in said.splitlines() if Spelt(line).words]
    return _of_table(lines) or _of_names(lines) or _pieces(spelt)


_DEPTH = 100


def _of_value(value: object, depth: int) -> _Shape:
    """The shape of a value; an empty one if it holds nothing that is looked for."""
    if isinstance(value, _Number):
        return value if _NUMBER.fullmatch(value) else _pieces(Spelt(value))
    if isinstance(value, str) or depth > _DEPTH:
        return _pieces(Spelt(str(value)))
    if isinstance(value, bool):
        return [_Piece("true" if value else "false")]
    if isinstance(value, _Fields):
        return _Any(shape for _, part in value if (shape := _of_value(part, depth + 1)))
    parts = value if isinstance(value, list) else []
    return [shape for part in parts if (shape := _of_value(part, depth + 1))]


def _cell(text: str) -> _Shape:
    text = text.strip()
    return _Number(text) if _NUMBER.fullmatch(text) else _pieces(Spelt(text))


def _of_table(lines: list[str]) -> _Shape:
    """Rows in their order, and the cells of each in any; the head may stand anywhere."""
    for mark in "|\t,;":
        if len(lines) > 1 and all(mark in line for line in lines):
            rows = [line.split(mark) for line in lines]
            if len({len(row) for row in rows}) == 1:
                head, *rest = (_Any(map(_cell, row)) for row in rows)
                return _Any((head, [*rest]))
    return []


def _of_names(lines: list[str]) -> _Shape:
    found = [_NAMED.fullmatch(line) for line in lines]
    named = [match for match in found if match]
    if len(named) < len(found) or len({match[1] for match in named}) < max(len(found), 2):
        return []
    return _Any([*_pieces(Spelt(match[1])), _cell(match[2])] for match in named)


def _pieces(spelt: Spelt) -> list[_Shape]:
    return [piece for line in spelt.lines for piece in _of_line(line)]


def _of_line(words: list[str]) -> Iterator[_Piece]:
    row = list[str]()
    for word in words:
        if len(word) < _LONG_WORD:
            row.append(word)
            if sum(map(len, row)) >= PIECE_CHARACTERS:
                yield _Piece(" ".join(row))
                row = []
            continue
        if row:
            yield _Piece(" ".join(row))
            row = []
        for at in range(0, len(word), PIECE_CHARACTERS):
            is_last = at + PIECE_CHARACTERS >= len(word)
            yield _Piece(word[at : at + PIECE_CHARACTERS], opens=at > 0, ends=not is_last)
    if row:
        yield _Piece(" ".join(row))
