"""A cassette of any writer without secrets: URLs, headers, bodies, notes, and the sizes of pieces.

A header whose name says that its value is a secret keeps its name. A compressed body that holds a
secret is written as it reads without its compression.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.cassettes.timing import OURS, from_metadata, refitted, to_metadata
from harness.core.values.messages import Json
from harness.providers.shared.codec import Unreadable
from harness.recordings.http_interaction import (
    Cassette,
    Interaction,
    header,
    unpacked,
)
from harness.redaction.masking import MASK, mask, mask_body, mask_url, mask_value

_SECRET_HEADERS = ("authorization", "cookie", "api-key", "token", "secret")


def redacted(cassette: Cassette) -> Cassette:
    """The cassette without secrets; its interactions are masked as they are iterated."""
    masked = _MaskedInteractions(cassette)
    return Cassette(masked, masked.metadata())


class _MaskedInteractions:
    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette

    def __iter__(self) -> Iterator[Interaction]:
        return map(_masked, self._cassette.interactions)

    def metadata(self) -> dict[str, Json]:
        """The metadata, with the pieces of the bodies that have changed."""
        given = self._cassette.metadata
        before = from_metadata(given)
        timings = {**before}
        for number, item in enumerate(self._cassette.interactions, start=1):
            if number not in before:
                continue
            after = _masked(item).response_body
            if after != item.response_body:
                pieces = refitted(before[number].pieces, item.response_body, after)
                timings[number] = msgspec.structs.replace(before[number], pieces=pieces)
        numbers = range(1, max(timings, default=0) + 1)
        ours = to_metadata(map(timings.get, numbers)) if timings != before else {}
        said: dict[str, Json] = {**given, **ours}
        masked: dict[str, Json] = mask_value(said)
        return {**masked, OURS: said[OURS]} if OURS in said else masked


def _masked(item: Interaction) -> Interaction:
    request_headers, request = _part(item.request_headers, item.request_body)
    response_headers, response = _part(item.response_headers, item.response_body)
    return msgspec.structs.replace(
        item,
        uri=mask_url(item.uri),
        request_headers=request_headers,
        request_body=request,
        response_headers=response_headers,
        response_body=response,
        more=mask_value(item.more),
    )


def _part(headers: dict[str, list[str]], body: bytes) -> tuple[dict[str, list[str]], bytes]:
    encoding = header(headers, "content-encoding")
    kept = {name: [_header(name, value) for value in values] for name, values in headers.items()}
    try:
        said = unpacked(body, encoding)
    except Unreadable:
        return kept, body
    masked = mask_body(said, header(headers, "content-type"))
    if masked == said:
        return kept, body
    return {n: v for n, v in kept.items() if n.lower() != "content-encoding"}, masked


def _header(name: str, value: str) -> str:
    return MASK if name.lower().endswith(_SECRET_HEADERS) and value else mask(value)
