"""The head of an ordinary request, read without a state machine.

h11 reads whatever a client sends, with the care that this needs; that costs more than all else that
the loopback door does for a call. Nearly every request is plain: a method, an absolute path,
HTTP/1.1, headers of visible characters, one content length or none. What is plain is read here,
with one pattern; anything else is left to h11, which says what is wrong with it. What this reads,
h11 would read the same.
"""

from __future__ import annotations

import re

import msgspec

HEAD_MOST_BYTES = 64 << 10
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_PLAIN = re.compile(
    rb"([A-Z]+) (/[!-~]*) HTTP/1\.1\r\n((?:%b:[ \t]*[!-~](?:[ -~]*[!-~])?\r\n)+)\r\n" % _TOKEN
)
_NOT_PLAIN = frozenset({"transfer-encoding", "expect", "upgrade", "connection"})
_KEEP_ALIVE = "keep-alive"


class PlainHead(msgspec.Struct, frozen=True):
    """A request's head: its body has `length` bytes and begins at `end`."""

    method: str
    path: str
    headers: dict[str, str]
    length: int
    end: int


def plain_head(data: bytes) -> PlainHead | None:
    """The head that `data` begins with, None when it is not all there or not plain."""
    found = _PLAIN.match(data)
    if found is None or found.end() > HEAD_MOST_BYTES:
        return None
    method, target, block = found.groups()
    lines = [line.partition(":") for line in block.decode("ascii").split("\r\n")[:-1]]
    headers = {name.lower(): value.strip(" \t") for name, _, value in lines}
    odd = _NOT_PLAIN & headers.keys()
    if odd and (odd != {"connection"} or headers["connection"].lower() != _KEEP_ALIVE):
        return None
    length = headers.get("content-length", "0")
    if len(headers) < len(lines) or "host" not in headers or not _is_length(length):
        return None
    path = target.partition(b"?")[0].decode("ascii")
    return PlainHead(method.decode("ascii"), path, headers, int(length), found.end())


def _is_length(text: str) -> bool:
    return text.isdecimal() and len(text) < 12
