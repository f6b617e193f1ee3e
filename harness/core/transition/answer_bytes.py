"""A client's reading of a plan's bytes: the status, the parsed answer, the silences.

Some bytes contain their own head; only its status is read here. Pings, comments and blank lines
reset a client's read timeout but have no content, so silence is counted between content. White
space inside content belongs to it, because an answer may come byte by byte.
"""

from __future__ import annotations

import re
import zlib

from harness.core.transition.ports import Parsed, Provider
from harness.core.values.plans import Head, Plan, Send, Wait

_KEEP_ALIVE = re.compile(rb"(?:\s|:[^\r\n]*+|event: ?ping\r?\n|data: ?\{\"type\": ?\"ping\"\})*+")
"""Events that only keep a stream open: blank lines, comments and pings."""

_BLANK_LINE = re.compile(rb"\n\r?\n")


def silent_ms(plan: Plan) -> int:
    """The longest time in a plan, in milliseconds, between two pieces of content or before its
    end."""
    longest = lasting = 0
    is_open, end = False, b""
    for step in plan:
        if isinstance(step, Wait):
            lasting += step.ms
            longest = max(longest, lasting)
        elif isinstance(step, Send):
            if is_open or not _KEEP_ALIVE.fullmatch(step.data):
                lasting = 0
            is_open = _leaves_open(is_open, end, step.data)
            end = (end + step.data)[-2:]
    return longest


def _leaves_open(is_open: bool, end: bytes, data: bytes) -> bool:
    """Whether content continues after `data`, with no blank line to end it yet."""
    *former, rest = _BLANK_LINE.split(end + data) if is_open else _BLANK_LINE.split(data)
    return (is_open and not former) or not _KEEP_ALIVE.fullmatch(rest)


_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)[ \r]")


def read(wire: Provider, plan: Plan) -> tuple[Head, Parsed] | None:
    """Head and content of the answer; None if it has no head. Broken framing ends the content."""
    sent = [step for step in plan if isinstance(step, Send)]
    body = b"".join([step.data for step in sent])
    head = sent[0].head if sent else None
    if head is None:
        found = _WRITTEN_HEAD.match(body)
        if found is None:
            return None
        head, body = _head(found), body[found.end() :]
    if head.headers.get("transfer-encoding") == "chunked":
        body = _from_chunks(body)
    if head.headers.get("content-encoding") == "gzip":
        body = _unpacked(body)
    return head, wire.parse(body, head.headers.get("content-type", ""))


_WRITTEN_HEAD = re.compile(
    rb"(?:HTTP/1\.1 1.*\r\n\r\n)*HTTP/1\.[01] ([2-5]\d\d) .*\r\n((?:.+\r\n)*)\r\n"
)
"""A head in the bytes of the answer, after informational ones."""


def _head(found: re.Match[bytes]) -> Head:
    lines = (line.partition(": ") for line in found[2].decode("latin-1").splitlines())
    return Head(int(found[1]), {name.lower(): value for name, _, value in lines})


_CHUNK = re.compile(rb"([0-9a-fA-F]+)\r\n")


def _from_chunks(data: bytes) -> bytes:
    """What the chunks hold, up to one that is malformed: a client has read what came before it."""
    body, at = b"", 0
    while (size := _CHUNK.match(data, at)) and int(size[1], 16):
        end = size.end() + int(size[1], 16)
        body += data[size.end() : end]
        at = end + 2
        if data[end:at] != b"\r\n":
            break
    return body


def _unpacked(data: bytes) -> bytes:
    """What can be unpacked. A plain body stays: a client that unpacks nothing reads all of it."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data)
    except zlib.error:
        return data


def written_status(plan: Plan) -> list[int]:
    """The statuses of an answer with a head in its bytes; informational statuses come first."""
    sent = b"".join([step.data for step in plan if isinstance(step, Send)])
    while sent.startswith(b"HTTP/1.1 1") and b"\r\n\r\n" in sent:
        sent = sent.partition(b"\r\n\r\n")[2]
    found = _STATUS_LINE.match(sent)
    return [int(found[1])] if found and b"\r\n\r\n" in sent else []
