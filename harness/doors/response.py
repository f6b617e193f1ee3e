"""A whole answer as a response of the client's own library.

`Response(content=...)` puts a body that is at hand through the library's stream, decoder and
chunker, only to keep the same bytes: four fifths of what a response costs. A body without a
content encoding may be kept at once, on a response that is marked as read. The library has no
public name for that, so it is done only while the library's own responses keep their body in the
same place, and a property test holds both ways equal.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from harness.core.plans import Head

_FRAMED = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that say how the bytes are to be read: with one of them, the library reads them."""


def whole(library: ModuleType, head: Head, body: bytes) -> Any:
    """The response with this head and body, read to its end."""
    headers = head.headers
    if not body or not _FRAMED.isdisjoint(map(str.lower, headers)) or not _keeps_content(library):
        return library.Response(head.status, headers=headers, content=body)
    sized = {**headers, "Content-Length": str(len(body))}
    response = library.Response(
        head.status,
        headers=sized,
        stream=library.ByteStream(body),
        extensions=_status_line(library, head.status),
    )
    response._content = body
    response.is_closed = response.is_stream_consumed = True
    response.headers.encoding = "ascii"  # what it would find out; other text it has refused
    return response


@cache
def _status_line(library: ModuleType, status: int) -> dict[str, bytes]:
    """What the library's transports say beside the headers."""
    reason = library.codes.get_reason_phrase(status)
    return {"http_version": b"HTTP/1.1", "reason_phrase": reason.encode("ascii")}


@cache
def _keeps_content(library: ModuleType) -> bool:
    """Whether a response of the library keeps its body where we would put it."""
    read = vars(library.Response(200, content=b"x"))
    return bool(read.get("_content") == b"x" and read["is_closed"] and read["is_stream_consumed"])
