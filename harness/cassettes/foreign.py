"""Cassettes of others as interactions: Python's vcrpy, go-vcr, Ruby's VCR, cassetter, JSON files.

Where each writer puts the parts of an exchange is known in `harness.recordings`, which reads the
same files to judge them; here nothing may be missing, for what is played must be what was recorded.
A writer that ends its file with a key of its own says so when the file is whole: without that key
the file is torn.
"""

from __future__ import annotations

import yaml

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.recordings import exchanges, vcr
from harness.recordings.bodies import Unreadable, stored
from harness.recordings.interaction import Cassette, Interaction, phrase
from harness.recordings.shapes import fields as f

_LAST_KEYS = {"interactions": "version", "http_interactions": "recorded_with"}
"""The key with which a writer ends a file, by the key of its list."""

_VERSIONS = (1, 2)
_HALVES = frozenset({"request", "response"})
_BESIDE = ("duration",)
"""What go-vcr notes in the answer that is no part of it."""


def read(data: bytes) -> Cassette:
    """A cassette of any known writer; raises InputError with the place in it."""
    held = vcr.load(data)
    listed = vcr.interactions(held)
    made = [_numbered(item, n, data) for n, item in enumerate(listed, start=1)]
    _check_whole(held, listed, is_json=data.lstrip()[:1] == b"{")
    metadata = held.get("metadata")
    return Cassette(made, metadata if isinstance(metadata, dict) else {})


def _check_whole(held: dict[str, Json], listed: list[dict[str, Json]], is_json: bool) -> None:
    """Raise InputError for a version that we do not know, and a file that has lost its end."""
    version = held.get("version", 1)
    if version not in _VERSIONS:
        raise InputError(f"`version` is {version!r}: known are 1 and 2")
    for key in ("grpc_interactions", "ws_interactions"):
        if held.get(key):
            raise InputError(f"`{key}` are no HTTP: take them out")
    last = next((last for key, last in _LAST_KEYS.items() if key in held), None)
    if is_json or last is None or last in held:
        return
    ending = listed[-1].get("response") if listed else None
    if not (isinstance(ending, dict) and "parsed_body" in ending):
        what = f"torn: `{last}:` at the end is missing; add it if nothing else is"
        raise InputError(what)


def _numbered(item: dict[str, Json], number: int, data: bytes) -> Interaction:
    try:
        return _interaction(item)
    except InputError as error:
        what = error.what
    except Unreadable as error:
        what = str(error)
    line = line_of(number, data)
    raise InputError(
        what, f"line {line}: interaction {number}" if line else f"interaction {number}"
    )


def _interaction(item: dict[str, Json]) -> Interaction:
    request, response = _half(item, "request"), _half(item, "response")
    uri = f.text(request.get("uri")) or f.text(request.get("url"))
    if not uri:
        raise InputError("the request has no `uri`")
    status = exchanges.status_of(response) or f.whole(response.get("status_code"))
    if status is None or not 100 <= status <= 599:
        raise InputError("the response has no `status` with a `code`")
    return Interaction(
        method=exchanges.method_of(request),
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
    """The words after the status code; the standard ones where a writer keeps none."""
    said = response.get("status")
    if isinstance(said, dict):
        return f.text(said.get("message", phrase(status)))
    if isinstance(said, str):
        return said.partition(" ")[2]
    return f.text(response.get("reason", phrase(status)))


def line_of(number: int, data: bytes) -> int | None:
    """The line where an interaction of a YAML file begins; asked for only when it is wrong."""
    depth = seen = 0
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
