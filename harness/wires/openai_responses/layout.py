"""Where the items stand in a request's bytes.

An agent loop that keeps its own history sends all of it with every call. What the last request
already said need not be decoded again: if the new body begins with the same bytes up to the end of
the list, and ends with those that came after it, then what stands between is a few more items. That
needs the offset at which the list ends. The decoder does not tell offsets, but a body without white
space, escaped names or repeated names has just one layout, so offsets are sums of lengths, and the
sum over all fields proves it: each deviation makes the body longer than the sum. Any other body is
read whole.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.core.messages import Json

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
INPUT = "input"


class NotAnObject(ValueError):
    """The body is JSON, but no object; `value` is what it is."""

    def __init__(self, value: Json) -> None:
        super().__init__("not an object")
        self.value = value


class Layout(msgspec.Struct, frozen=True):
    """A body in parts: the bytes of each field but the input, and of each of its items.

    `items` is None when there is no input; `bad` is what stands there if it is neither list nor
    text. `prefix` is the body up to the end of the list's last item and `tail` the rest, both empty
    when the body has no single layout.
    """

    fields: dict[str, bytes]
    items: tuple[bytes, ...] | None
    bad: bytes = b""
    prefix: bytes = b""
    tail: bytes = b""


def split(body: bytes) -> Layout:
    """The parts of a body; raises NotAnObject, ValueError or RecursionError when it has none."""
    body.decode()
    try:
        parts = _FIELDS.decode(body)
    except msgspec.ValidationError:
        raise NotAnObject(msgspec.json.decode(body)) from None
    fields = {name: bytes(raw) for name, raw in parts.items() if name != INPUT}
    if INPUT not in parts or parts[INPUT] == b"null":
        return Layout(fields, None)
    raw = bytes(parts[INPUT])
    if raw.startswith(b'"'):
        return Layout(fields, (b'{"role":"user","content":%b}' % raw,))
    if not raw.startswith(b"["):
        return Layout(fields, None, bad=raw)
    items = tuple(map(bytes, _ITEMS.decode(raw)))
    end = _end(body, parts)
    return Layout(fields, items, prefix=body[:end], tail=body[end:] if end else b"")


def _end(body: bytes, parts: dict[str, msgspec.Raw]) -> int:
    """Where the list's closing bracket stands; 0 when the body has no single layout."""
    if len(body) != _size(parts.items()) + 1:
        return 0
    names = list(parts)
    before = names[: names.index(INPUT) + 1]
    return _size((name, parts[name]) for name in before) - 1


def _size(parts: Iterable[tuple[str, msgspec.Raw]]) -> int:
    """The least bytes of `"name":value,` for all parts: one for each character of a name."""
    return sum(len(name) + 4 + len(value) for name, value in parts)


def added(body: bytes, prefix: bytes, tail: bytes, *, first: bool) -> tuple[bytes, ...] | None:
    """The items that a body has between `prefix` and `tail`; None when it is no such body.

    With `first` the prefix ends where the list begins, else after an item.
    """
    start, stop = len(prefix), len(body) - len(tail)
    if not tail or stop < start or not (body.startswith(prefix) and body.endswith(tail)):
        return None
    more = body[start:stop]
    if not more:
        return ()
    if not first and not more.startswith(b","):
        return None
    raw = more if first else more[1:]
    try:
        raw.decode()
        return tuple(map(bytes, _ITEMS.decode(b"[%b]" % raw))) or None
    except (ValueError, RecursionError):
        return None
