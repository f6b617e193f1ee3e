"""What stands in files that others wrote: each secret by its place, its issuer and a digest.

A cassette is read by exchanges, as the last scan of a recording reads it. Any other file is read by
lines, and once as a whole, because a private key has many lines. A database is read by its
printable parts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from harness.cassettes.cassette_file import parse_cassette
from harness.cassettes.folder_redaction import PRINTABLE
from harness.core.values.errors import InputError
from harness.files.regular_file import whole
from harness.providers.shared.codec import Unreadable, encode
from harness.recordings.http_interaction import Interaction, header, unpacked
from harness.redaction.secret_patterns import spans
from harness.redaction.secret_scan import Suspect, digest, suspects

_HEAD_BYTES = 4096


class FoundSecret(msgspec.Struct, frozen=True, order=True):
    """A secret in a file: where, of which issuer, and a digest in place of it."""

    place: str
    issuer: str
    digest: str


def secrets_in(path: Path) -> list[FoundSecret]:
    """The secrets of a file, in order; raises InputError for one that cannot be read."""
    data = whole(path)
    if b"\0" in data[:_HEAD_BYTES]:
        return [*dict.fromkeys(_in_binary(data))]
    try:
        found = map(_of_exchange, secrets_of_interactions(parse_cassette(data).interactions))
        return [*dict.fromkeys(found)]
    except InputError:  # no cassette, or a damaged one
        return [*dict.fromkeys(_in_text(data.decode("utf-8", "replace")))]


def secrets_of_interactions(
    interactions: Iterable[Interaction], known: Collection[str] = ()
) -> Iterator[Suspect]:
    """What looks like a secret in recorded calls of any writer; `known` must stand nowhere."""
    for number, item in enumerate(interactions, start=1):
        yield from suspects(((number, part, text) for part, text in _parts(item)), known)


def _parts(item: Interaction) -> Iterator[tuple[str, str]]:
    yield "URL", item.uri
    yield "request's headers", _lines(item.request_headers)
    yield "request's body", _text(item.request_headers, item.request_body)
    yield "answer's headers", _lines(item.response_headers)
    yield "answer's body", _text(item.response_headers, item.response_body)
    yield "notes", encode(item.more).decode("utf-8", "replace") if item.more else ""


def _lines(headers: dict[str, list[str]]) -> str:
    return "\n".join(f"{name}: {value}" for name, values in headers.items() for value in values)


def _text(headers: dict[str, list[str]], body: bytes) -> str:
    try:
        said = unpacked(body, header(headers, "content-encoding"))
    except Unreadable:
        said = body
    return said.decode("utf-8", "replace")


def _of_exchange(suspect: Suspect) -> FoundSecret:
    place = f"exchange {suspect.exchange}, {suspect.part}"
    return FoundSecret(place, suspect.kind, suspect.digest)


def _in_text(text: str) -> Iterator[FoundSecret]:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found = [
        FoundSecret(f"line {bisect_right(starts, start)}", kind, digest(text[start:end]))
        for start, end, kind in spans(text)
    ]
    seen = {one.place for one in found}
    yield from found
    # Escapes and pieces of streams, in the lines where nothing is plain.
    for suspect in suspects((number, "", line) for number, line in enumerate(lines, start=1)):
        if (place := f"line {suspect.exchange}") not in seen:
            yield FoundSecret(place, suspect.kind, suspect.digest)


def _in_binary(data: bytes) -> Iterator[FoundSecret]:
    for run in PRINTABLE.finditer(data):
        for start, end, kind in spans(run[0].decode("ascii")):
            said = run[0][start:end].decode("ascii")
            yield FoundSecret(f"byte {run.start() + start}", kind, digest(said))
