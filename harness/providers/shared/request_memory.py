"""The last request of a session: which messages of the next one are new.

An agent loop sends its whole history in one list, so only bytes that differ from the last body are
read. The result never depends on that memory, except for `keep`. The decoder gives no offsets. A
body without white space, escaped or repeated names has one layout, so offsets are sums of lengths.
Any other body is longer than the sum and is read whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from harness.core.values.messages import Json

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_VALUES = msgspec.json.Decoder(list[Json])


class NotAnObject(ValueError):
    """The body is JSON, but no object; `value` is what it is."""

    def __init__(self, value: Json) -> None:
        super().__init__("not an object")
        self.value = value


class Layout(msgspec.Struct, frozen=True):
    """A body in parts: fields before and after the list, and the bytes of each message.

    `messages` is None when there is no such list; `marks` are the offsets where the list begins and
    right after each message, None when the body has no single layout. `bad` is what stands in place
    of the list, or b"".
    """

    head: dict[str, bytes]
    rest: dict[str, bytes]
    messages: tuple[bytes, ...] | None
    marks: tuple[int, ...] | None
    bad: bytes = b""


def split(body: bytes, listed: str = "messages") -> Layout:
    """The parts of a body whose list is the field `listed`.

    Raises NotAnObject, ValueError or RecursionError when it has none.
    """
    body.decode()
    try:
        parts = _FIELDS.decode(body)
    except msgspec.ValidationError:
        raise NotAnObject(msgspec.json.decode(body)) from None
    names = list(parts)
    if listed not in parts:
        return Layout(_copied(parts, names), {}, None, None)
    place = names.index(listed)
    head, rest = _copied(parts, names[:place]), _copied(parts, names[place + 1 :])
    raw = parts[listed]
    try:
        items = tuple(bytes(item) for item in _ITEMS.decode(raw))
    except msgspec.ValidationError:
        return Layout(head, rest, None, None, bytes(raw))
    exact = len(body) == _size(parts.items()) + 1
    exact = exact and len(raw) == 2 + sum(map(len, items)) + max(0, len(items) - 1)
    start = _size(head.items()) + len(_open(listed))
    return Layout(head, rest, items, (start, *ends(items, start)) if exact else None)


def resume(body: bytes, end: int, listed: str = "messages") -> Layout | None:
    """The parts after the message that ends at `end`, or None when they cannot be told apart."""
    more, begun = body[end : end + 1] == b",", _open(listed)
    start = end + 1 if more else end
    try:
        layout = split(begun + body[start:], listed)
    except (ValueError, RecursionError):
        return None
    if layout.marks is None or bool(layout.messages) != more:
        return None
    shift = start - len(begun)
    marks = tuple(mark + shift for mark in layout.marks)
    return Layout({}, layout.rest, layout.messages, marks)


def between(
    body: bytes, start: int, tail: memoryview, *, first: bool
) -> tuple[tuple[bytes, ...], list[Json]] | None:
    """The messages between `start` and a `tail` that follows a list, as bytes and as values.

    `start` is where a message ends or, with `first`, where the list begins. None when anything
    else stands there. One new message, the usual case, is decoded only once.
    """
    stop = len(body) - len(tail)
    if stop < start or not body.endswith(tail):
        return None
    if stop == start:
        return (), []
    if not first and not body.startswith(b",", start):
        return None
    raw = body[start if first else start + 1 : stop]
    try:
        values = _VALUES.decode(b"[%b]" % raw)
        if len(values) == 1 and raw.startswith(b"{") and raw.endswith(b"}"):
            return (raw,), values
        items = tuple(map(bytes, _ITEMS.decode(b"[%b]" % raw)))
    except (ValueError, RecursionError):
        return None
    exact = items and len(raw) == sum(map(len, items)) + len(items) - 1
    return (items, values) if exact else None


def shared(body: bytes, prefix: memoryview, marks: list[int]) -> int:
    """How many messages of `prefix` the body begins with; -1 when the fields before them differ.

    A loop that goes on, or retries, changes the last message at most. So two comparisons are nearly
    always enough, and the bytes are read once.
    """
    count = len(marks) - 1
    last = marks[-2] if count else 0
    is_last_same = body.startswith(prefix[last:], last)
    if body.startswith(prefix[:last]):
        return count if is_last_same else count - 1
    low, high = -1, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        start = marks[low] if low >= 0 else 0
        if body.startswith(prefix[start : marks[middle]], start):
            low = middle
        else:
            high = middle
    return low


def _open(listed: str) -> bytes:
    return b'{"%b":[' % listed.encode()


def _copied(parts: dict[str, msgspec.Raw], names: Iterable[str]) -> dict[str, bytes]:
    return {name: bytes(parts[name]) for name in names}


def _size(parts: Iterable[tuple[str, msgspec.Raw | bytes]]) -> int:
    """The least bytes of `"name":value,` for all parts: one for each character of a name."""
    return sum(len(name) + 4 + len(value) for name, value in parts)


def ends(items: tuple[bytes, ...], start: int) -> list[int]:
    """Where each of the items ends, if they stand from `start` on with commas between."""
    found, at = [], start
    for item in items:
        at += len(item)
        found.append(at)
        at += 1
    return found


_decode = msgspec.json.Decoder().decode


class NewMessages(msgspec.Struct, frozen=True, gc=False):
    """A request beside the last one: its first `keep` messages are the same, `raws` are the rest.

    `raws` is None where there is no list of messages, and `bad` is what stands in its place. The
    `values` are what the raws say, to be iterated once (ValueError for one that is not JSON). The
    `fields` are those beside the list, None when none of them has changed.
    """

    keep: int
    raws: tuple[bytes, ...] | None
    values: Iterable[Json]
    fields: dict[str, bytes] | None
    bad: bytes = b""


class LastRequest:
    """The memory of one session; it is empty at first, and whenever it was told to forget.

    The messages are the list in the field `listed`. Where the API takes a `text` in its place,
    that makes a message of it, both as they stand in the body.
    """

    def __init__(
        self, listed: str = "messages", text: Callable[[bytes], bytes] | None = None
    ) -> None:
        self._listed, self._text = listed, text
        self.forget()

    def forget(self) -> None:
        """Take the next request as the first one."""
        self._prefix = self._tail = memoryview(b"")
        self._marks: list[int] = []
        self._raws: list[bytes] = []
        self._head: dict[str, bytes] = {}

    @property
    def raws(self) -> tuple[bytes, ...]:
        """All messages of the last request that had any."""
        return tuple(self._raws)

    def find(self, body: bytes) -> NewMessages:
        """What is new in a request, which becomes the last one.

        Raises NotAnObject, ValueError or RecursionError for a body that is not a JSON object.
        """
        keep = shared(body, self._prefix, self._marks) if self._marks else -1
        found = self._between(body, keep) or self._resumed(body, keep) or self._whole(body)
        if found.raws is not None:
            self._raws[found.keep :] = found.raws
            view, end = memoryview(body), self._marks[-1] if self._marks else 0
            self._prefix, self._tail = view[:end], view[end:]
        return found

    def _between(self, body: bytes, keep: int) -> NewMessages | None:
        if keep < 0:
            return None
        start = self._marks[keep]
        new = between(body, start, self._tail, first=not keep)
        if new is None:
            return None
        raws, values = new
        self._marks[keep + 1 :] = ends(raws, start + 1 if keep else start)
        return NewMessages(keep, raws, values, None)

    def _resumed(self, body: bytes, keep: int) -> NewMessages | None:
        rest = resume(body, self._marks[keep], self._listed) if keep > 0 else None
        if rest is None or rest.messages is None:
            return None
        self._marks[keep + 1 :] = rest.marks[1:] if rest.marks else ()
        fields = {**self._head, **rest.rest}
        return NewMessages(keep, rest.messages, map(_decode, rest.messages), fields)

    def _whole(self, body: bytes) -> NewMessages:
        whole = split(body, self._listed)
        fields, messages = {**whole.head, **whole.rest}, whole.messages
        if self._text is not None and whole.bad.startswith(b'"'):
            messages = (self._text(whole.bad),)
        if messages is None:
            return NewMessages(0, None, (), fields, whole.bad)
        self._marks, self._head = list(whole.marks or ()), whole.head
        keep = _same(self._raws, messages)
        return NewMessages(keep, messages[keep:], map(_decode, messages[keep:]), fields)


def _same(old: list[bytes], new: tuple[bytes, ...]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)))
