"""A cassette file as the exchanges that can be played.

The format is told by the content, in UTF-8 or UTF-16: the compact form, or any of the dialects that
`foreign` reads. What fails names the file and the place in it. Of an answer's headers only those
are kept that a recording keeps: lengths and encodings would lie about a body that is played
decoded. A body in an encoding that the standard library does not know (br, zstd) is played as it
is, under its name. When its pieces came is asked for (`timed`); that it broke off is always told.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from harness.cassettes import foreign
from harness.cassettes.endpoints import wire_of
from harness.cassettes.redact import kept_headers
from harness.cassettes.timing import Timing, from_metadata
from harness.core.values.errors import InputError
from harness.core.values.plans import Recorded
from harness.files.regular_file import head_of, whole
from harness.recordings import compact_codec, vcr
from harness.recordings.bodies import Unreadable, is_text, unpacked
from harness.recordings.documents import UTF16, as_utf8
from harness.recordings.interaction import Cassette, Interaction, header

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


def calls_of(path: Path, *, timed: bool = False) -> Iterator[Exchange]:
    """The calls to a model of a file, one at a time; raises InputError as `load` does."""
    cassette = load(path)
    try:
        yield from calls(cassette, timed=timed)
    except InputError as error:
        raise _placed(error, path) from None


def lasting(path: Path) -> Iterator[tuple[int, int]]:
    """How long each answer took to come whole, in milliseconds, by the number of its exchange."""
    for exchange in calls_of(path, timed=True):
        yield exchange.number, sum(wait_ms for _, wait_ms in exchange.answer.pieces)


def load(path: Path) -> Cassette:
    """A cassette file.

    Raises InputError, naming the file and the place, for one that is torn, empty, binary or no
    cassette.
    """
    try:
        _check_text(head_of(path))
        return parse(whole(path))
    except InputError as error:
        raise _placed(error, path) from None


def _placed(error: InputError, path: Path) -> InputError:
    if error.place.startswith(str(path)):
        return error
    return InputError(error.what, f"{path}: {error.place}" if error.place else str(path))


def _check_text(head: bytes) -> None:
    if b"\0" in head and not head.startswith(UTF16):
        raise InputError("binary, not a cassette")


def is_cassette(data: bytes) -> bool:
    """Whether the bytes are meant as a cassette, whole or not; InputError for broken UTF-16."""
    data = as_utf8(data)
    return compact_codec.looks_like(data) or vcr.looks_like(data)


def parse(data: bytes) -> Cassette:
    """A cassette's bytes as interactions; InputError with the place in it when it is none."""
    _check_text(data[:_HEAD_BYTES])
    data = as_utf8(data)
    if not data.strip():
        raise InputError("the file is empty")
    return compact_codec.read(data) if compact_codec.looks_like(data) else foreign.read(data)


def exchanges(data: bytes) -> list[Exchange]:
    """The calls to a model of a cassette's bytes; InputError with the place in it."""
    return list(calls(parse(data)))


def calls(cassette: Cassette, *, timed: bool = False) -> Iterator[Exchange]:
    """The calls to a model of a cassette, decoded; whatever else it holds is passed over.

    The answers of a cassette that is read `timed` come in the pieces in which they were recorded.
    """
    timings = from_metadata(cassette.metadata)
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
        answer = _in_time(answer, timings.get(number), timed)
        yield Exchange(number, item.method.upper(), path, body, answer)


def _answer(item: Interaction) -> Recorded:
    headers = {name: ", ".join(values) for name, values in item.response_headers.items()}
    encoding = header(item.response_headers, "content-encoding")
    kept = kept_headers(headers)
    if encoding not in _ENCODINGS and not is_text(item.response_body):
        return Recorded(item.status, {**kept, "content-encoding": encoding}, item.response_body)
    return Recorded(item.status, kept, unpacked(item.response_body, encoding))


def _in_time(answer: Recorded, timing: Timing | None, timed: bool) -> Recorded:
    """The answer cut as it was, and in its pieces if it is `timed`."""
    if timing is None or not timing.fits(answer.body) or not (timed or timing.cut):
        return answer
    pieces = tuple((p.size_bytes, p.wait_ms) for p in timing.pieces) if timed else ()
    return msgspec.structs.replace(answer, pieces=pieces, cut=timing.ending)
