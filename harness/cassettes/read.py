"""A cassette file as the exchanges that can be played.

The format is told by the content: the compact form, or any of the dialects that `foreign` reads.
What fails names the file and the place in it. Of an answer's headers only those are kept that a
recording keeps: lengths and encodings would lie about a body that is played decoded. A body in an
encoding that the standard library does not know (br, zstd) is played as it is, under its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from harness.cassettes import compact, foreign
from harness.cassettes.endpoints import wire_of
from harness.cassettes.interaction import Cassette, Interaction, header
from harness.cassettes.redact import kept_headers
from harness.core.errors import InputError
from harness.core.plans import Recorded
from harness.incidents import vcr
from harness.incidents.bodies import Unreadable, is_text, unpacked

_HEAD_BYTES = 4096
_ENCODINGS = frozenset({"", "identity", "gzip"})


class Exchange(msgspec.Struct, frozen=True):
    """A call to a model and its answer; `number` is its place in the file, from 1."""

    number: int
    method: str
    path: str
    body: bytes
    answer: Recorded


def read_cassette(path: Path) -> list[Exchange]:
    """The calls to a model of a file in recorded order; raises InputError as `load` does."""
    return list(calls_of(path))


def calls_of(path: Path) -> Iterator[Exchange]:
    """The calls to a model of a file, one at a time; raises InputError as `load` does."""
    cassette = load(path)
    try:
        yield from calls(cassette)
    except InputError as error:
        raise _placed(error, path) from None


def load(path: Path) -> Cassette:
    """A cassette file.

    Raises InputError, naming the file and the place, for one that is torn, empty, binary or no
    cassette.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from None
    try:
        return parse(data)
    except InputError as error:
        raise _placed(error, path) from None


def _placed(error: InputError, path: Path) -> InputError:
    return InputError(error.what, f"{path}: {error.place}" if error.place else str(path))


def is_cassette(data: bytes) -> bool:
    """Whether the bytes are meant as a cassette, whole or not."""
    return compact.looks_like(data) or vcr.looks_like(data)


def parse(data: bytes) -> Cassette:
    """A cassette's bytes as interactions; InputError with the place in it when it is none."""
    if b"\0" in data[:_HEAD_BYTES]:
        raise InputError("binary, not a cassette")
    if not data.strip():
        raise InputError("the file is empty")
    return compact.read(data) if compact.looks_like(data) else foreign.read(data)


def exchanges(data: bytes) -> list[Exchange]:
    """The calls to a model of a cassette's bytes; InputError with the place in it."""
    return list(calls(parse(data)))


def calls(cassette: Cassette) -> Iterator[Exchange]:
    """The calls to a model of a cassette, decoded; whatever else it holds is passed over."""
    for number, item in enumerate(cassette.interactions, start=1):
        try:
            path = urlsplit(item.uri).path
        except ValueError:
            what = f"`uri` is no URL: {item.uri[:80]!r}"
            raise InputError(what, f"interaction {number}") from None
        if wire_of(item.method, path) is None:
            continue
        try:
            body = unpacked(item.request_body, header(item.request_headers, "content-encoding"))
            answer = _answer(item)
        except Unreadable as error:
            raise InputError(str(error), f"interaction {number}") from None
        yield Exchange(number, item.method.upper(), path, body, answer)


def _answer(item: Interaction) -> Recorded:
    headers = {name: ", ".join(values) for name, values in item.response_headers.items()}
    encoding = header(item.response_headers, "content-encoding")
    kept = kept_headers(headers)
    if encoding not in _ENCODINGS and not is_text(item.response_body):
        return Recorded(item.status, {**kept, "content-encoding": encoding}, item.response_body)
    return Recorded(item.status, kept, unpacked(item.response_body, encoding))
