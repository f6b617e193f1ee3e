"""An interaction: a request and its answer as they crossed the wire, whoever wrote them down.

Every format of a cassette is read into this and written from it, so two formats never have to know
each other. Bodies are the bytes on the wire, in the content encoding that the headers name; headers
keep their spelling and each its list of values.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus

import msgspec

from harness.core.values.messages import Json


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


class Cassette(msgspec.Struct, frozen=True):
    """The interactions of a file in recorded order, and what the file says of all of them.

    `interactions` may be gone through again and again; `metadata` holds the timing of streams.
    """

    interactions: Iterable[Interaction]
    metadata: dict[str, Json] = {}


def phrase(status: int) -> str:
    """The standard words for a status code, "" for one that has none."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def header(headers: dict[str, list[str]], name: str) -> str:
    """The values of a header, joined, in small letters; "" without it."""
    found = (values for key, values in headers.items() if key.lower() == name)
    return ", ".join(next(found, [])).lower()
