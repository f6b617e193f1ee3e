"""Texts that make a pattern slow, derived from its own syntax tree.

A search is slow where it begins often and each time reads far: its beginning repeated, one
character of each repeated class without an end, and near misses of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_LONG = 16
"""A part that may be repeated as often as this is made as long as the text."""

_CANDIDATES = "aA0 \n-_.=:/\"'\\(){}[]<>,;@#`xzeEkt5\té日"


def hostile_texts(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    """Texts of about `size` characters."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    seeds: dict[str, None] = {}
    for seed in _seeds(list(tree)):
        seeds[seed] = None
    for seed in seeds:
        if seed:
            yield (seed * (size // len(seed) + 1))[:size]
    for before, char in dict.fromkeys(_long_runs(list(tree), "")):
        yield before + char * size
        yield (before + char * 9) * (size // (len(before) + 9) + 1)
        yield (before + char * 300) * (size // (len(before) + 300) + 1)
        yield char * size + "\x00"


def _seeds(items: Sequence[Any]) -> Iterator[str]:
    """The beginnings of what matches, the shortest and a longer form of each."""
    for more in (0, 2):
        told = ""
        for item in items:
            told += _example(item, more)
            yield told
            yield told[:-1]
    for item in items:
        for below in _below(item):
            yield from _seeds(below)


def _long_runs(items: Sequence[Any], before: str) -> Iterator[tuple[str, str]]:
    """Each part that may be long: what stands before it, and a character of it."""
    for item in items:
        kind, value = item
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) and value[1] >= _LONG:
            for char in {*_chars(value[2], 3), _example_of(value[2], 0)[:40]}:
                if char:
                    yield before, char
        for below in _below(item):
            yield from _long_runs(below, before)
        before += _example(item, 0)


def _chars(items: Sequence[Any], most: int) -> list[str]:
    """Some characters that a part of one character matches."""
    if len(items) != 1:
        return []
    shape = items[0]
    return [char for char in _CANDIDATES if _matches(shape, char)][:most]


def _matches(shape: Any, char: str) -> bool:
    kind, value = shape
    if kind is op.LITERAL:
        return chr(value) == char
    if kind is op.NOT_LITERAL:
        return chr(value) != char
    if kind is op.ANY:
        return char != "\n"
    if kind is op.IN:
        negated = value[0][0] is op.NEGATE
        return negated != any(_in(part, char) for part in value)
    return False


_CATEGORIES = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    op.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    op.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    op.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def _in(part: Any, char: str) -> bool:
    kind, value = part
    if kind is op.LITERAL:
        return chr(value) == char
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    return bool(kind is op.CATEGORY and _CATEGORIES[value](char))


def _below(item: Any) -> Iterator[Sequence[Any]]:
    kind, value = item
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        yield list(value[2])
    elif kind is op.SUBPATTERN:
        yield list(value[3])
    elif kind is op.ATOMIC_GROUP:
        yield list(value)
    elif kind is op.BRANCH:
        yield from map(list, value[1])
    elif kind in (op.ASSERT, op.ASSERT_NOT):
        yield list(value[1])


def _example_of(items: Sequence[Any], more: int) -> str:
    return "".join(_example(item, more) for item in items)


def _example(item: Any, more: int) -> str:
    """A text that a part matches; a repeated part has `more` than it must have."""
    kind, value = item
    if kind is op.LITERAL:
        return chr(value)
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        least, most, below = value
        return _example_of(list(below), more) * int(min(most, least + more))
    if kind is op.ASSERT and value[0] < 0:
        return _example_of(list(value[1]), more)
    if kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
        return _example_of(next(_below(item)), more)
    if kind is op.BRANCH:
        return _example_of(list(value[1][0]), more)
    return next(iter(_chars([item], 1)), "")
