"""What an answer sends, as a client gets it."""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.values.plans import Send


def joined(sends: Iterable[Send]) -> bytes:
    """The body of an answer."""
    return b"".join(send.data for send in sends)


def content_type(sends: tuple[Send, ...]) -> str:
    """The content type of an answer."""
    head = sends[0].head
    assert head is not None
    return head.headers["content-type"]
