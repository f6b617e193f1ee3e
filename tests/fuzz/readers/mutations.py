"""Mutations of a file: bytes, lines, JSON and YAML trees, and splices with another file."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import yaml

BYTES_MAX = 300_000
"""The largest file that a mutation makes."""

_PIECES = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b"\\", b"{", b"[", b"}",
    b"\\ud800", b"\x1b[2J", b"- ", b": ", b"*a", b"&a ", b"!!python/object:os.system ", b"<<: ",
    b"\xff\xfe", b"1e999", b"-", b"9" * 400, b"9" * 5000, b"NaN", b"null", b"[" * 500,
    b'{"a":' * 300, b"data: ", b"event: ", b"\xe2\x80\xa8",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1 << 63, 1 << 64, 10**400, 1.5, 1e308, float("nan"), float("inf"),
    "", "x", "\ud800", "\x1b[2J", "\0", "a" * 5000, "2020-01-01", [], {}, [[]], [None], {"": None},
    {"a": {"a": {}}}, ["x"], [{}], [1, "a", None], {"type": "text"}, {"role": "user"},
)  # fmt: skip


def mutated(data: bytes, other: bytes, draws: Random) -> bytes:
    """`data` after one to four mutations; `other` is a file to splice from."""
    for _ in range(draws.choice((1, 1, 1, 2, 2, 3, 4))):
        data = draws.choice(MUTATIONS)(data, other, draws)[:BYTES_MAX]
    return data


def _place(data: bytes, draws: Random) -> int:
    return draws.randint(0, len(data))


def _flip(data: bytes, other: bytes, draws: Random) -> bytes:
    if not data:
        return b"\0"
    at = draws.randrange(len(data))
    return data[:at] + bytes([draws.randrange(256)]) + data[at + 1 :]


def _insert(data: bytes, other: bytes, draws: Random) -> bytes:
    at = _place(data, draws)
    return data[:at] + draws.choice(_PIECES) + data[at:]


def _cut(data: bytes, other: bytes, draws: Random) -> bytes:
    first = _place(data, draws)
    return data[:first] + data[first + draws.choice((1, 2, 10, 100, 1000)) :]


def _truncate(data: bytes, other: bytes, draws: Random) -> bytes:
    return data[: _place(data, draws)]


def _repeat(data: bytes, other: bytes, draws: Random) -> bytes:
    first = _place(data, draws)
    piece = data[first : first + draws.choice((1, 8, 200))]
    return data[:first] + piece * draws.choice((2, 30, 1000)) + data[first:]


def _splice(data: bytes, other: bytes, draws: Random) -> bytes:
    return data[: _place(data, draws)] + other[_place(other, draws) :]


def _lines(data: bytes, other: bytes, draws: Random) -> bytes:
    lines = data.split(b"\n")
    at, to = draws.randrange(len(lines)), draws.randrange(len(lines))
    match draws.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case _:
            lines.insert(to, draws.choice(other.split(b"\n")))
    return b"\n".join(lines)


def _tree(data: bytes, other: bytes, draws: Random) -> bytes:
    """Change the tree of the document, or of one of its lines."""
    try:
        return _json(data, draws)
    except (ValueError, RecursionError):
        pass
    lines = data.split(b"\n")
    at = draws.randrange(len(lines))
    try:
        lines[at] = _json(lines[at], draws)
        return b"\n".join(lines)
    except (ValueError, RecursionError):
        return _yaml(data, other, draws)


def _json(data: bytes, draws: Random) -> bytes:
    value = json.loads(data)
    return json.dumps(changed(value, draws)).encode()


def _yaml(data: bytes, other: bytes, draws: Random) -> bytes:
    if len(data) > 20_000:
        return _lines(data, other, draws)
    try:
        value = changed(yaml.load(data, Loader=yaml.CSafeLoader), draws)
        return yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass")
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError):
        return _lines(data, other, draws)


def changed(value: Any, draws: Random) -> Any:
    """The tree with one node changed: replaced, dropped, doubled, nested, or moved."""
    parents = [(box, key) for box, key in _nodes(value)]
    if not parents:
        return draws.choice(_VALUES)
    box, key = draws.choice(parents)
    match draws.randrange(6):
        case 0 | 1:
            box[key] = draws.choice(_VALUES)
        case 2:
            del box[key]
        case 3:
            other, place = draws.choice(parents)
            box[key] = _copy(other[place]) if place in _keys(other) else None
        case 4:
            for _ in range(draws.choice((1, 5, 90, 400))):
                box[key] = [box[key]] if draws.randrange(2) else {"a": box[key]}
        case _ if isinstance(box, list):
            box[key:key] = [_copy(box[key]) for _ in range(draws.choice((1, 2, 50)))]
        case _:
            box[draws.choice(("", "x", "type", "\ud800", "id", str(key) * 2))] = box.pop(key)
    return value


def _keys(box: Any) -> Any:
    return range(len(box)) if isinstance(box, list) else box


def _copy(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, default=str))
    except (ValueError, RecursionError):
        return None


def _nodes(value: Any) -> list[tuple[Any, Any]]:
    found, left = [], [value]
    while left:
        box = left.pop()
        keys = range(len(box)) if isinstance(box, list) else box if isinstance(box, dict) else ()
        for key in keys:
            found.append((box, key))
            left.append(box[key])
    return found


MUTATIONS: tuple[Callable[[bytes, bytes, Random], bytes], ...] = (
    _flip, _insert, _cut, _truncate, _repeat, _splice, _lines, _tree, _tree, _tree, _tree,
)  # fmt: skip
