"""A whole answer as a response of the client's own library.

`Response(content=...)` puts a body that is at hand through the library's stream, decoder and
chunker, only to keep the same bytes: four fifths of what a response costs. A body without a
content encoding may be kept at once, on a response that is marked as read, and its headers, nearly
the same ones in every answer, need to be put into bytes only once. The library has no public name
for either, so it is done only while the library's own responses keep body and headers in the same
places, and a property test holds both ways equal.
"""

from __future__ import annotations

from functools import cache, lru_cache
from types import ModuleType
from typing import Any

from harness.core.values.plans import Head

_FRAMED = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that say how the bytes are to be read: with one of them, the library reads them."""


def whole(library: ModuleType, head: Head, body: bytes) -> Any:
    """The response with this head and body, read to its end."""
    lines = list(map(_line, head.headers.items()))
    if not body or None in lines or not _keeps_parts(library):
        return library.Response(head.status, headers=head.headers, content=body)
    response = library.Response(
        head.status, stream=library.ByteStream(body), extensions=_status_line(library, head.status)
    )
    response._content = body
    response.is_closed = response.is_stream_consumed = True
    lines.append((b"Content-Length", b"content-length", b"%d" % len(body)))
    response.headers._list = lines
    response.headers.encoding = "ascii"  # what it would find out; other text is refused above
    return response


@lru_cache(maxsize=256)
def _line(header: tuple[str, str]) -> tuple[bytes, bytes, bytes] | None:
    """A header as the library keeps it, None for one that says how the bytes are to be read.

    Raises UnicodeEncodeError where the library would.
    """
    name, value = header
    raw = name.encode("ascii")
    line = raw, raw.lower(), value.encode("ascii")
    return None if line[1] in _FRAMED else line


@cache
def _status_line(library: ModuleType, status: int) -> dict[str, bytes]:
    """What the library's transports say beside the headers."""
    reason = library.codes.get_reason_phrase(status)
    return {"http_version": b"HTTP/1.1", "reason_phrase": reason.encode("ascii")}


@cache
def _keeps_parts(library: ModuleType) -> bool:
    """Whether a response of the library keeps its body and its headers where we would put them."""
    response = library.Response(200, headers={"A": "b"}, content=b"x")
    read = vars(response)
    is_read = read.get("_content") == b"x" and read["is_closed"] and read["is_stream_consumed"]
    return bool(is_read and vars(response.headers).get("_list", [])[:1] == [_line(("A", "b"))])
