"""The last request of a session: which messages of the next one are new.

An agent loop sends its whole history with every call. Here stands what was sent last (its bytes,
where each message ends in them, the fields around the list), so that only what follows the shared
beginning is looked at. What comes out never depends on that memory, except for `keep`.
"""

from __future__ import annotations

import msgspec

from harness.wires.layout import ends, resume, split

_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


class Found(msgspec.Struct, frozen=True, gc=False):
    """A request beside the last one: its first `keep` messages are the same, `raws` are the rest.

    `raws` is None where there is no list of messages, and `bad` is what stands in its place. The
    `fields` are those beside the list, None when none of them has changed.
    """

    keep: int
    raws: tuple[bytes, ...] | None
    fields: dict[str, bytes] | None
    bad: bytes = b""


class LastRequest:
    """The memory of one session; it is empty at first, and whenever it was told to forget."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Take the next request as the first one."""
        self._prefix = self._tail = memoryview(b"")
        self._marks: list[int] = []
        self._raws: list[bytes] = []
        self._head: dict[str, bytes] = {}

    def find(self, body: bytes) -> Found:
        """What is new in a request, which becomes the last one.

        Raises NotAnObject, ValueError or RecursionError for a body that is no JSON object.
        """
        keep = self._shared(body)
        found = self._between(body, keep) or self._resumed(body, keep) or self._whole(body)
        if found.raws is not None:
            self._raws[found.keep :] = found.raws
            view, end = memoryview(body), self._marks[-1] if self._marks else 0
            self._prefix, self._tail = view[:end], view[end:]
        return found

    def _shared(self, body: bytes) -> int:
        """How many messages the body begins with as the last one did; -1 when not even the fields
        before them are the same.

        A loop that goes on, or asks again, changes the last message at most, so nearly always two
        comparisons tell.
        """
        count = len(self._marks) - 1
        if count < 0:
            return -1
        last = self._marks[-2] if count else 0
        if body.startswith(self._prefix[:last]):
            return count if body.startswith(self._prefix[last:], last) else count - 1
        low, high = -1, count - 1
        while high - low > 1:
            middle = (low + high) // 2
            start = self._marks[low] if low >= 0 else 0
            if body.startswith(self._prefix[start : self._marks[middle]], start):
                low = middle
            else:
                high = middle
        return low

    def _between(self, body: bytes, keep: int) -> Found | None:
        """The new messages of a body that begins and ends as the last one."""
        if keep < 0 or not body.endswith(self._tail):
            return None
        start, stop = self._marks[keep], len(body) - len(self._tail)
        if stop == start:
            del self._marks[keep + 1 :]
            return Found(keep, (), None)
        if stop < start or (keep and not body.startswith(b",", start)):
            return None
        begin = start + 1 if keep else start
        raws = _items(body[begin:stop])
        if not raws:
            return None
        self._marks[keep + 1 :] = ends(raws, begin)
        return Found(keep, raws, None)

    def _resumed(self, body: bytes, keep: int) -> Found | None:
        """The new messages, and the fields after them, of a body that begins as the last one."""
        rest = resume(body, self._marks[keep]) if keep > 0 else None
        if rest is None:
            return None
        self._marks[keep + 1 :] = rest.marks[1:] if rest.marks else ()
        return Found(keep, rest.messages, {**self._head, **rest.rest}, rest.bad)

    def _whole(self, body: bytes) -> Found:
        whole = split(body)
        fields = {**whole.head, **whole.rest}
        if whole.messages is None:
            return Found(0, None, fields, whole.bad)
        self._marks, self._head = list(whole.marks or ()), whole.head
        keep = _same(self._raws, whole.messages)
        return Found(keep, whole.messages[keep:], fields)


def _items(raw: bytes) -> tuple[bytes, ...]:
    """The values that stand in `raw` with commas between; none when anything else stands there."""
    try:
        raw.decode()
        items = tuple(map(bytes, _ITEMS.decode(b"[%b]" % raw)))
    except (ValueError, RecursionError):
        return ()
    return items if len(raw) == sum(map(len, items)) + len(items) - 1 else ()


def _same(old: list[bytes], new: tuple[bytes, ...]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)))
