"""The heads of plain requests, read without h11, and the refusal of a request.

h11 costs more than the rest of a loopback call. So plain requests are parsed here, with h11's
result, and any other request goes to h11.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec


class RefusedRequest(Exception):
    """A request that no seam gets: `status` and text say what to answer.

    `request` is its method and path, "" where its head cannot be read.
    """

    def __init__(self, status: int, text: str, request: str = "") -> None:
        super().__init__(text)
        self.status, self.request = status, request


HEAD_MOST_BYTES = 64 << 10
_REQUEST = re.compile(rb"([A-Z]+) (/[!-~]*) HTTP/1\.1")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([!-~](?:[ -~]*[!-~])?)")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]+)(?=\r\n)", re.IGNORECASE)
_LENGTH_MOST_DIGITS = 11
"""A longer number exceeds the bound of every body, so it is not converted."""
_NOT_PLAIN = frozenset({"transfer-encoding", "expect", "upgrade"})
_KEEP_ALIVE = "keep-alive"


class PlainHead(msgspec.Struct, frozen=True):
    """A request's head: its body has `length` bytes and begins at `end`.

    `headers` are all others; requests whose heads differ in nothing but the length share them.
    """

    method: str
    path: str
    headers: dict[str, str]
    length: int
    end: int
    query: str = ""


class PlainHeads:
    """Reads the heads of one connection's requests."""

    def __init__(self) -> None:
        self._last: PlainHead | None = None
        self._before = self._behind = b""

    def read(self, data: bytes) -> PlainHead | None:
        """The head that `data` begins with, as `plain_head` reads it."""
        if self._last is not None and data.startswith(self._before):
            start = len(self._before)
            stop = data.find(b"\r", start, start + _LENGTH_MOST_DIGITS + 1)
            if data.startswith(self._behind, stop) and data[start:stop].isdigit():
                last, end = self._last, stop + len(self._behind)
                length = int(data[start:stop])
                return PlainHead(last.method, last.path, last.headers, length, end, last.query)
        found = plain_head(data)
        place = _LENGTH.search(data, 0, found.end) if found else None
        self._last = found if place else None
        if found and place:
            self._before, self._behind = data[: place.start(1)], data[place.end(1) : found.end]
        return found


def plain_head(data: bytes) -> PlainHead | None:
    """The head that `data` begins with, None when it is not all there or not plain."""
    end = data.find(b"\r\n\r\n", 0, HEAD_MOST_BYTES)
    first, *lines = data[: max(end, 0)].split(b"\r\n")
    asked = _asked(first)
    named = [found for found in map(_named, lines) if found is not None]
    if asked is None or len(named) < len(lines):
        return None
    headers = dict(named)
    if len(headers) < len(lines) or "host" not in headers:
        return None
    length = headers.pop("content-length", "0")
    if not length.isdecimal() or len(length) > _LENGTH_MOST_DIGITS:
        return None
    method, path, query = asked
    return PlainHead(method, path, headers, int(length), end + 4, query)


@lru_cache(maxsize=64)
def _asked(line: bytes) -> tuple[str, str, str] | None:
    """Return method, path and query of a plain request line."""
    found = _REQUEST.fullmatch(line)
    if found is None:
        return None
    method, target = found.groups()
    path, _, query = target.decode("ascii").partition("?")
    return method.decode("ascii"), path, query


@lru_cache(maxsize=256)
def _named(line: bytes) -> tuple[str, str] | None:
    """Return name and value of a plain header; a client repeats nearly the same ones."""
    found = _HEADER.fullmatch(line)
    if found is None:
        return None
    name, value = found[1].decode("ascii").lower(), found[2].decode("ascii")
    if name in _NOT_PLAIN or (name == "connection" and value.lower() != _KEEP_ALIVE):
        return None
    return name, value
