"""A request and its answer over HTTP, with bodies as the bytes on the wire.

All cassette formats convert through `Interaction`. Bodies keep the content encoding of their
headers. Writers store text, bytes, parsed values, `{string}`, `{base64_string}`, `{type, content}`,
or base64 with or without a prefix. Any of these may hold gzip.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from harness.core.values.machine_names import without_token
from harness.core.values.messages import Json
from harness.providers.shared.codec import Unreadable, encode
from harness.recordings.transcripts import Refusal


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its answer. `more` is what the writer noted beside them (`recorded_at`)."""

    method: str
    uri: str
    request_headers: dict[str, list[str]] = {}
    request_body: bytes = b""
    status: int
    reason: str = ""
    response_headers: dict[str, list[str]] = {}
    response_body: bytes = b""
    more: dict[str, Json] = {}


def address_of(url: str) -> SplitResult:
    """The parts of a recorded URL without our token; all are empty where a file holds no URL."""
    try:
        return urlsplit(without_token(url))
    except ValueError:
        return urlsplit("")


class Cassette(msgspec.Struct, frozen=True):
    """The interactions of a file in recorded order, and what the file says of all of them.

    `interactions` may be iterated many times; `metadata` holds the timing of streams. `numbers` are
    the places of the interactions in the file, where they are not 1, 2, 3, …; `left_out` are
    entries that are not whole interactions: the place of each, and why.
    """

    interactions: Iterable[Interaction]
    metadata: dict[str, Json] = {}
    numbers: tuple[int, ...] = ()
    left_out: tuple[tuple[int, Refusal], ...] = ()


def phrase(status: int) -> str:
    """The standard words for a status code; "" for a code without standard words."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def header(headers: dict[str, list[str]], name: str) -> str:
    """The values of a header, joined, in small letters; "" without it."""
    found = (values for key, values in headers.items() if key.lower() == name)
    return ", ".join(next(found, [])).lower()


MAX_BODY_BYTES = 32 * 1024 * 1024
"""The most that a compressed body may grow to. The APIs themselves take no larger request."""

MAX_UNPACKED_BYTES = 4 * MAX_BODY_BYTES
"""The most that all compressed bodies of a file may grow to."""

_PIECE_BYTES = 1024 * 1024


class UnpackedSize:
    """The size of the compressed bodies of a file together; some kilobytes may hold a gigabyte."""

    def __init__(self) -> None:
        self.size_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Unpack more of a body; raises Unreadable when it is too much."""
        self.size_bytes += size_bytes
        if self.size_bytes > MAX_UNPACKED_BYTES:
            most = MAX_UNPACKED_BYTES // 1024**2
            raise Unreadable(f"the compressed bodies of the file grow to more than {most} MB")


BASE64 = "base64:"
"""The prefix of a text that is base64. A body that begins with it is never kept as text."""

_TYPED = ("json", "text", "binary", "none")
_TYPED_KEYS = frozenset({"type", "content"})
"""The envelope in which cassetter keeps a body; its binary is hexadecimal."""

_GZIP = b"\x1f\x8b"
_BASE64 = re.compile(rb"[A-Za-z0-9+/\s]{8,}+={0,2}\s*+")


def body_bytes(
    part: dict[str, Any], encoding: str = "", together: UnpackedSize | None = None
) -> bytes:
    """The body of a recorded request or response; raises Unreadable.

    `encoding` is its `content-encoding`. A missing body is read as empty bytes.
    """
    if part.get("parsed_body") is not None:
        return _encoded(part["parsed_body"])
    return unpacked(stored(part), encoding, together)


def stored(part: dict[str, Any]) -> bytes:
    """The body as it crossed the wire, in the content encoding that it had; raises Unreadable."""
    if part.get("parsed_body") is not None:
        return _encoded(part["parsed_body"])
    return _raw(part.get("body", part.get("content")))


def _raw(body: Json) -> bytes:
    if isinstance(body, dict) and body.get("type") in _TYPED and body.keys() <= _TYPED_KEYS:
        return _typed(body["type"], body.get("content"))
    if isinstance(body, dict) and isinstance(body.get("base64_string"), str):
        return _from_base64(body["base64_string"].encode())
    if isinstance(body, dict) and "string" in body:
        body = body["string"]
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    if isinstance(body, str) and body.startswith(BASE64):
        return _from_base64(body.removeprefix(BASE64).encode())
    return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else _encoded(body)


def _typed(kind: str, content: Json) -> bytes:
    if kind == "none":
        return b""
    if kind != "binary":
        return _encoded(content) if kind == "text" else encode(content)
    try:
        return bytes.fromhex(content)
    except (TypeError, ValueError):
        raise Unreadable("binary is not hexadecimal text") from None


def _encoded(value: Json) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    try:
        return encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise Unreadable("body is not a JSON value") from None


def unpacked(data: bytes, encoding: str, together: UnpackedSize | None = None) -> bytes:
    """A stored body without its content encoding; raises Unreadable.

    `together` counts the bodies of one file.
    """
    if data[:1].isalnum() and _BASE64.fullmatch(data):
        data = _guessed(data)
    if data.startswith(_GZIP):
        return _gunzip(data, together or UnpackedSize())
    if data[:1] == b"\x1f":
        raise Unreadable("gzip is torn")
    if encoding in ("br", "zstd") and not is_text(data):
        raise Unreadable(f"compressed with {encoding}")
    return data


def _from_base64(data: bytes) -> bytes:
    try:
        return base64.b64decode(data)
    except ValueError:
        raise Unreadable("base64 is torn") from None


def _guessed(data: bytes) -> bytes:
    """Bare base64 is decoded only when it holds gzip or JSON."""
    try:
        said = base64.b64decode(data)
    except ValueError:
        return data
    return said if said.startswith((_GZIP, b"{", b"data:", b"event:")) else data


def _gunzip(data: bytes, together: UnpackedSize) -> bytes:
    """In pieces: to unpack up to a bound at once takes twice the bound, and none of it is used."""
    inflate = zlib.decompressobj(wbits=31)
    said = bytearray()
    while not inflate.eof:
        try:
            piece = inflate.decompress(data, _PIECE_BYTES)
        except zlib.error:
            raise Unreadable("gzip is torn") from None
        if not piece and not inflate.eof:
            raise Unreadable("gzip is torn")
        together.add(len(piece))
        said += piece
        if len(said) > MAX_BODY_BYTES:
            raise Unreadable(f"gzip grows to more than {MAX_BODY_BYTES // 1024**2} MB")
        data = inflate.unconsumed_tail
    return bytes(said)


def is_text(data: bytes) -> bool:
    """Whether the bytes are UTF-8 text."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
