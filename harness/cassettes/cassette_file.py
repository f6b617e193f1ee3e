"""A cassette file as the exchanges that can be played.

A missing part is an error, because playback must equal the recording. A file without the key that
its writer puts last is torn. Answers are decoded, so lengths, encodings and most headers are
dropped. The standard library lacks br and zstd: such bodies stay encoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from operator import itemgetter
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import yaml

from harness import providers
from harness.cassettes.timing import Timing, from_metadata
from harness.core.transition.ports import Provider
from harness.core.values.errors import InputError
from harness.core.values.machine_names import without_token
from harness.core.values.messages import Json
from harness.core.values.plans import Recorded
from harness.files.regular_file import head_of, whole
from harness.providers.shared import hosts
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import Unreadable
from harness.recordings import model_exchange
from harness.recordings.http_interaction import (
    Cassette,
    Interaction,
    UnpackedSize,
    address_of,
    header,
    is_text,
    phrase,
    stored,
    unpacked,
)
from harness.recordings.json_documents import UTF16, as_utf8
from harness.recordings.readers import genai_replay, har, httprr, vcr
from harness.recordings.transcripts import Refusal
from harness.redaction.masking import kept_headers

_HEAD_BYTES = 4096
_ENCODINGS = frozenset({"", "identity", "gzip"})


class CassetteExchange(msgspec.Struct, frozen=True):
    """A call to a model and its answer; `number` is its place in the file, from 1."""

    number: int
    method: str
    path: str
    body: bytes
    answer: Recorded
    query: str = ""


def wire_of(method: str, path: str) -> Provider | None:
    """The provider whose API a request speaks; None for a request that is not a call to a model.

    Only the end of the path is compared: the host of a live call is ours, and gateways put anything
    in front of a path.
    """
    if method.upper() != "POST":
        return None
    found = (record.name for record in providers.records() if record.is_spoken_at(path))
    return next(map(providers.by_name, found), None)


def read_cassette(path: Path) -> list[CassetteExchange]:
    """The calls to a model of a file in recorded order; raises InputError as `load` does."""
    return list(calls_of(path))


def calls_of(path: Path, *, timed: bool = False) -> Iterator[CassetteExchange]:
    """The calls to a model of a file, one at a time; raises InputError as `load` does."""
    cassette = load_cassette(path)
    try:
        yield from calls(cassette, timed=timed)
    except InputError as error:
        raise error.within(str(path)) from None


def answer_durations(path: Path) -> Iterator[tuple[int, int]]:
    """How long each answer took to come whole, in milliseconds, by the number of its exchange."""
    for exchange in calls_of(path, timed=True):
        yield exchange.number, sum(wait_ms for _, wait_ms in exchange.answer.pieces)


def load_cassette(path: Path) -> Cassette:
    """A cassette file.

    Raises InputError, naming the file and the place, for one that is torn, empty, binary or no
    cassette.
    """
    try:
        _check_text(head_of(path))
        return parse_cassette(whole(path))
    except InputError as error:
        raise error.within(str(path)) from None


def _check_text(head: bytes) -> None:
    if b"\0" in head and not head.startswith(UTF16):
        raise InputError("binary, not a cassette")


def is_cassette(data: bytes) -> bool:
    """Whether the bytes are meant as a cassette, whole or not; InputError for broken UTF-16."""
    data = as_utf8(data)
    return har.is_har(data) or _reader(data) is not None or vcr.is_vcr(data)


def parse_cassette(data: bytes) -> Cassette:
    """A cassette's bytes as interactions; InputError with the place for anything else."""
    _check_text(data[:_HEAD_BYTES])
    data = as_utf8(data)
    if not data.strip():
        raise InputError("the file is empty")
    return read_archive(data) if har.is_har(data) else read_foreign(data)


def calls(cassette: Cassette, *, timed: bool = False) -> Iterator[CassetteExchange]:
    """The calls to a model of a cassette, decoded; other calls are skipped.

    The answers of a cassette that is read `timed` come in the pieces in which they were recorded.
    """
    timings = from_metadata(cassette.metadata)
    numbers, together = cassette.numbers or count(1), UnpackedSize()
    for number, item in zip(numbers, cassette.interactions, strict=False):
        try:
            address = urlsplit(without_token(item.uri))
        except ValueError:
            what = f"`uri` is not a URL: {item.uri[:80]!r}"
            raise InputError(what, f"interaction {number}") from None
        path = address.path
        wire = wire_of(item.method, path)
        if wire is None:
            continue
        try:
            encoding = header(item.request_headers, "content-encoding")
            body = unpacked(item.request_body, encoding, together)
            if hosts.is_foreign(providers.record(wire.name), path, body):
                continue
            answer = _answer(item, together)
        except Unreadable as error:
            raise InputError(str(error), f"interaction {number}") from None
        answer = _in_time(answer, timings.get(number), timed)
        method = item.method.upper()
        yield CassetteExchange(number, method, path, body, answer, address.query)


def _answer(item: Interaction, together: UnpackedSize) -> Recorded:
    headers = {name: ", ".join(values) for name, values in item.response_headers.items()}
    encoding = header(item.response_headers, "content-encoding")
    kept = kept_headers(headers)
    if encoding not in _ENCODINGS and not is_text(item.response_body):
        return Recorded(item.status, {**kept, "content-encoding": encoding}, item.response_body)
    return Recorded(item.status, kept, unpacked(item.response_body, encoding, together))


def _in_time(answer: Recorded, timing: Timing | None, timed: bool) -> Recorded:
    """The answer with its recorded ending, and with its timed pieces if `timed`."""
    if timing is None or not timing.fits(answer.body) or not (timed or timing.cut):
        return answer
    pieces = tuple((p.size_bytes, p.wait_ms) for p in timing.pieces) if timed else ()
    return msgspec.structs.replace(answer, pieces=pieces, cut=timing.ending)


_LAST_KEYS = {"interactions": "version", "http_interactions": "recorded_with"}
"""The key with which a writer ends a file, by the key of its list."""

_VERSIONS = (1, 2)
_HALVES = frozenset({"request", "response"})
_BESIDE = ("duration",)
"""What go-vcr notes in the answer that is not part of it."""


def _reader(data: bytes) -> Callable[[bytes], list[dict[str, Json]]] | None:
    """What gives the exchanges of a writer that does not write VCR's keys."""
    if httprr.is_httprr(data):
        return httprr.exchanges
    return genai_replay.exchanges if genai_replay.is_genai_replay(data) else None


def read_foreign(data: bytes) -> Cassette:
    """A cassette of any known writer; raises InputError with the place in it."""
    reader = _reader(data)
    held = {} if reader else vcr.load(data)
    listed = reader(data) if reader else vcr.interactions(held)
    made = [_numbered(item, n, data) for n, item in enumerate(listed, start=1)]
    _check_whole(held, listed, is_json=data.lstrip()[:1] == b"{")
    metadata = held.get("metadata")
    return Cassette(made, metadata if isinstance(metadata, dict) else {})


def read_archive(data: bytes) -> Cassette:
    """A HAR; what holds no whole request and answer is left out with its reason.

    Raises InputError, with the place, for JSON that is not an archive.
    """
    made: list[tuple[int, Interaction]] = []
    left_out: list[tuple[int, Refusal]] = []
    for number, entry in har.entries(data):
        exchange = har.exchange(entry)
        why = Refusal("", _why_left_out(exchange))
        try:
            if not why.reason:
                made.append((number, _interaction(exchange)))
                continue
        except InputError as error:
            why = Refusal("", error.reason, error.more)
        left_out.append((number, why))
    numbers = tuple(number for number, _ in made)
    return Cassette([item for _, item in made], {}, numbers, tuple(left_out))


def _why_left_out(exchange: dict[str, Json]) -> str:
    request, response = exchange["request"], exchange["response"]
    if not request:
        return "no request"
    why = exchange["not_http"]
    if not why and request["body"] is None and model_exchange.method_of(request) == "POST":
        why = "request: no body, postData has no text"
    return why or (response["lack"] and f"response: {response['lack']}")


def passed_over(cassette: Cassette) -> list[tuple[int, Refusal]]:
    """The entries of a cassette that are not played: the place of each, and why."""
    found = list(cassette.left_out)
    for number, item in zip(cassette.numbers or count(1), cassette.interactions, strict=False):
        path = address_of(item.uri).path
        if wire_of(item.method, path) is None:
            found.append((number, model_exchange.no_model_call("", path, item.method)))
    return sorted(found, key=itemgetter(0))


def archive_notes(path: Path) -> list[str]:
    """What is skipped in a HAR, a line for each reason; nothing for any other file.

    Raises InputError as `load` does.
    """
    if not _OPENING_OF_ARCHIVE.match(head_of(path)) or not har.is_har(whole(path)):
        return []
    places: dict[str, list[int]] = {}
    for number, why in passed_over(load_cassette(path)):
        places.setdefault(why.reason, []).append(number)
    return [f"skipped, {why}: {_entries(numbers)}" for why, numbers in places.items()]


_OPENING_OF_ARCHIVE = re.compile(rb'(?:\xef\xbb\xbf)?(?:\s*\{\s*"log"|(?:---\n)?log:)')
_NAMED_MOST = 5


def _entries(numbers: list[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED_MOST]))
    if len(numbers) == 1:
        return f"entry {named}"
    more = len(numbers) - _NAMED_MOST
    return f"entries {named}" + (f" and {more} more" if more > 0 else "")


def _check_whole(held: dict[str, Json], listed: list[dict[str, Json]], is_json: bool) -> None:
    """Raise InputError for an unknown version, or a file that has lost its end."""
    version = held.get("version", 1)
    if version not in _VERSIONS:
        raise InputError(f"`version` is {version!r}: known are 1 and 2")
    for key in ("grpc_interactions", "ws_interactions"):
        if held.get(key):
            raise InputError(f"`{key}` are not HTTP: remove them")
    last = next((last for key, last in _LAST_KEYS.items() if key in held), None)
    if is_json or last is None or last in held:
        return
    ending = listed[-1].get("response") if listed else None
    if not (isinstance(ending, dict) and "parsed_body" in ending):
        raise InputError(f"torn: `{last}:` at the end is missing; add it if nothing else is")


def _numbered(item: dict[str, Json], number: int, data: bytes) -> Interaction:
    try:
        return _interaction(item)
    except InputError as error:
        what = error.what
    except Unreadable as error:
        what = str(error)
    line = line_of(number, data)
    raise InputError(what, f"interaction {number}").within(f"line {line}" if line else "")


def _interaction(item: dict[str, Json]) -> Interaction:
    request, response = _half(item, "request"), _half(item, "response")
    uri = f.text(request.get("uri")) or f.text(request.get("url"))
    if not uri:
        raise InputError("the request has no `uri`")
    status = model_exchange.status_of(response) or f.whole(response.get("status_code"))
    if status is None or not 100 <= status <= 599:
        raise InputError("the response has no `status` with a `code`")
    return Interaction(
        method=model_exchange.method_of(request),
        uri=uri,
        request_headers=_headers(request),
        request_body=_body(request, "request"),
        status=status,
        reason=_reason(response, status),
        response_headers=_headers(response),
        response_body=_body(response, "response"),
        more={
            **{name: value for name, value in item.items() if name not in _HALVES},
            **{name: response[name] for name in _BESIDE if name in response},
        },
    )


def _half(item: dict[str, Json], name: str) -> dict[str, Json]:
    value = item.get(name)
    if not isinstance(value, dict):
        raise InputError(f"there is no `{name}`")
    return value


def _body(part: dict[str, Json], name: str) -> bytes:
    if lack := f.text(part.get("lack")):
        raise InputError(f"{name}: {lack}")
    try:
        return stored(part)
    except Unreadable as error:
        raise InputError(f"{name}: {error}") from None


def _headers(part: dict[str, Json]) -> dict[str, list[str]]:
    return {
        name: [str(item) for item in value] if isinstance(value, list) else [str(value)]
        for name, value in f.mapping(part.get("headers")).items()
    }


def _reason(response: dict[str, Json], status: int) -> str:
    said = response.get("status")
    if isinstance(said, dict):
        return f.text(said.get("message", phrase(status)))
    if isinstance(said, str):
        return said.partition(" ")[2]  # go-vcr keeps the words of the status line: "200 OK"
    return f.text(response.get("reason", phrase(status)))


def line_of(number: int, data: bytes) -> int | None:
    """The line where an interaction of a YAML file begins, asked for only when it is wrong.

    None where it is not found, as in JSON that says what YAML cannot: half a character.
    """
    depth = seen = 0
    with suppress(yaml.YAMLError):
        for event in yaml.parse(data, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth == 2 and isinstance(event, yaml.NodeEvent):
                seen += 1
                if seen == number and event.start_mark is not None:
                    return int(event.start_mark.line) + 1
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
    return None
