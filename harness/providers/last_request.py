"""The last request of a session: which messages of the next one are new.

An agent loop sends its whole history with every call. Here stands what was sent last (its bytes,
where each message ends in them, the fields around the list), so that only what follows the shared
beginning is looked at. What comes out never depends on that memory, except for `keep`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from harness.core.values.messages import Json
from harness.providers.layout import between, ends, resume, shared, split

_decode = msgspec.json.Decoder().decode


class Found(msgspec.Struct, frozen=True, gc=False):
    """A request beside the last one: its first `keep` messages are the same, `raws` are the rest.

    `raws` is None where there is no list of messages, and `bad` is what stands in its place. The
    `values` are what the raws say, to be gone through once (ValueError for one that is no JSON).
    The `fields` are those beside the list, None when none of them has changed.
    """

    keep: int
    raws: tuple[bytes, ...] | None
    values: Iterable[Json]
    fields: dict[str, bytes] | None
    bad: bytes = b""


class LastRequest:
    """The memory of one session; it is empty at first, and whenever it was told to forget.

    The messages are the list in the field `listed`. Where the wire takes a `text` in its place,
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

    def find(self, body: bytes) -> Found:
        """What is new in a request, which becomes the last one.

        Raises NotAnObject, ValueError or RecursionError for a body that is no JSON object.
        """
        keep = shared(body, self._prefix, self._marks) if self._marks else -1
        found = self._between(body, keep) or self._resumed(body, keep) or self._whole(body)
        if found.raws is not None:
            self._raws[found.keep :] = found.raws
            view, end = memoryview(body), self._marks[-1] if self._marks else 0
            self._prefix, self._tail = view[:end], view[end:]
        return found

    def _between(self, body: bytes, keep: int) -> Found | None:
        """The new messages of a body that begins and ends as the last one."""
        if keep < 0:
            return None
        start = self._marks[keep]
        new = between(body, start, self._tail, first=not keep)
        if new is None:
            return None
        raws, values = new
        self._marks[keep + 1 :] = ends(raws, start + 1 if keep else start)
        return Found(keep, raws, values, None)

    def _resumed(self, body: bytes, keep: int) -> Found | None:
        """The new messages, and the fields after them, of a body that begins as the last one."""
        rest = resume(body, self._marks[keep], self._listed) if keep > 0 else None
        if rest is None or rest.messages is None:
            return None
        self._marks[keep + 1 :] = rest.marks[1:] if rest.marks else ()
        fields = {**self._head, **rest.rest}
        return Found(keep, rest.messages, map(_decode, rest.messages), fields)

    def _whole(self, body: bytes) -> Found:
        whole = split(body, self._listed)
        fields, messages = {**whole.head, **whole.rest}, whole.messages
        if self._text is not None and whole.bad.startswith(b'"'):
            messages = (self._text(whole.bad),)
        if messages is None:
            return Found(0, None, (), fields, whole.bad)
        self._marks, self._head = list(whole.marks or ()), whole.head
        keep = _same(self._raws, messages)
        return Found(keep, messages[keep:], map(_decode, messages[keep:]), fields)


def _same(old: list[bytes], new: tuple[bytes, ...]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)))
