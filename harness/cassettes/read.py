"""A cassette file as exchanges.

Only vcrpy's own format is played (`version: 1` and `interactions:` with `uri` and string bodies);
other writers' dialects are read by `harness.incidents` for judging. What fails names the file and
the place in it. Of an answer's headers only those are kept that a recording keeps: lengths and
encodings would lie about a body that is stored decoded.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from harness.cassettes import vcr_yaml
from harness.cassettes.redact import kept_headers
from harness.core.errors import InputError
from harness.core.messages import Json
from harness.core.plans import Recorded

BODY_MAX_BYTES = 256 * 1024 * 1024
"""The most that a compressed body may grow to."""

_GZIP = b"\x1f\x8b"


class Exchange(msgspec.Struct, frozen=True):
    """A request and its answer; `number` is its place in the file, from 1."""

    number: int
    method: str
    path: str
    body: bytes
    answer: Recorded


def read_cassette(path: Path) -> list[Exchange]:
    """The exchanges of a file in recorded order.

    Raises InputError, naming the file and the place, for a file that is torn, empty, binary or no
    cassette of vcrpy.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from None
    try:
        return exchanges(data)
    except InputError as error:
        place = f"{path}: {error.place}" if error.place else str(path)
        raise InputError(error.what, place) from None


def exchanges(data: bytes) -> list[Exchange]:
    """The exchanges of a cassette's bytes; InputError with the place in it when it is none."""
    if b"\0" in data[:4096]:
        raise InputError("binary, not a cassette in YAML")
    cassette = vcr_yaml.parse(data)
    listed = cassette.get("interactions") if isinstance(cassette, dict) else None
    if not isinstance(listed, list):
        raise InputError("not a cassette of vcrpy: there is no list `interactions`", "line 1")
    if cassette.get("version") != 1:
        found = "is missing" if "version" not in cassette else f"is {cassette['version']!r}"
        raise InputError(f"torn or not of vcrpy: `version: 1` at the end {found}")
    return [_exchange(item, number) for number, item in enumerate(listed, start=1)]


def _exchange(item: Json, number: int) -> Exchange:
    try:
        request, response = _mapping(item, "request"), _mapping(item, "response")
        return Exchange(
            number=number,
            method=str(request.get("method") or "").upper(),
            path=_path(request),
            body=_decoded(request.get("body"), _headers(request)),
            answer=_answer(response),
        )
    except InputError as error:
        line = item.get(None) if isinstance(item, dict) else None
        where = f"line {line}: " if line else ""
        raise InputError(error.what, f"{where}interaction {number}") from None


def _mapping(item: Json, name: str) -> dict[str, Json]:
    value = item.get(name) if isinstance(item, dict) else None
    if not isinstance(value, dict):
        raise InputError(f"there is no `{name}`")
    return value


def _path(request: dict[str, Json]) -> str:
    uri = request.get("uri")
    if not isinstance(uri, str):
        raise InputError("the request has no `uri`")
    try:
        return urlsplit(uri).path
    except ValueError:
        raise InputError(f"`uri` is no URL: {uri[:80]!r}") from None


def _answer(response: dict[str, Json]) -> Recorded:
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else response.get("status_code")
    if not isinstance(code, int) or not 100 <= code <= 599:
        raise InputError("the response has no `status` with a `code`")
    body = response.get("body", response.get("content"))
    if isinstance(body, dict):
        body = body.get("string")
    headers = _headers(response)
    return Recorded(code, kept_headers(headers), _decoded(body, headers))


def _headers(part: dict[str, Json]) -> dict[str, str]:
    """The headers in small letters; the values of one that came several times are joined."""
    found = part.get("headers")
    pairs: list[tuple[Any, Json]] = list(found.items()) if isinstance(found, dict) else []
    return {
        name.lower(): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in pairs
        if isinstance(name, str)
    }


def _decoded(body: Json, headers: dict[str, str]) -> bytes:
    """A body as bytes, without its content encoding."""
    if body is None:
        return b""
    if not isinstance(body, (str, bytes)):
        raise InputError("a body is neither text nor binary")
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if data.startswith(_GZIP):
        return _gunzipped(data)
    encoding = headers.get("content-encoding", "identity")
    if encoding not in ("identity", "gzip", "deflate") and isinstance(body, bytes):
        raise InputError(f"a body is compressed with {encoding}: record it decoded")
    return data


def _gunzipped(data: bytes) -> bytes:
    inflate = zlib.decompressobj(wbits=31)
    try:
        plain = inflate.decompress(data, BODY_MAX_BYTES)
    except zlib.error:
        raise InputError("a gzip body is torn") from None
    if inflate.unconsumed_tail or not inflate.eof:
        raise InputError("a gzip body is torn or too large")
    return plain
