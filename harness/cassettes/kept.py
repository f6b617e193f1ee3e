"""What a recording keeps of an exchange: a call to a model, without secrets, at the provider's own.

A loopback address becomes the provider's, since a port means nothing tomorrow.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from harness.cassettes.endpoints import wire_of
from harness.cassettes.redact import kept_headers, mask_url
from harness.cassettes.redact_body import mask_body
from harness.cassettes.timing import Timing, refitted
from harness.core.values.errors import InputError

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
HOME = {
    "anthropic": "api.anthropic.com",
    "openai-chat": "api.openai.com",
    "openai-responses": "api.openai.com",
}
"""The host of each wire's provider."""


class Asked(msgspec.Struct, frozen=True):
    """A request as it went out; `url` is where it went in the end."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes

    @property
    def is_for_a_model(self) -> bool:
        """Whether it is a call to a model, on a wire that is known here."""
        return wire_of(self.method, urlsplit(self.url).path) is not None


class Heard(msgspec.Struct, frozen=True):
    """An answer as it came, without its content encoding, and when."""

    status: int
    reason: str
    headers: dict[str, str]
    body: bytes
    timing: Timing | None = None


class Kept(msgspec.Struct, frozen=True):
    """An exchange as it is written: a request and a response of vcrpy's, and when."""

    request: Any
    response: dict[str, Any]
    timing: Timing | None


def kept(asked: Asked, heard: Heard) -> Kept:
    """What is kept of an exchange. InputError for a body in which no key could be seen."""
    response, timing = _response(heard), heard.timing
    if timing is not None:
        pieces = refitted(timing.pieces, heard.body, response["body"]["string"])
        timing = msgspec.structs.replace(timing, pieces=pieces)
    return Kept(_request(asked), response, timing)


def _request(asked: Asked) -> Any:
    from vcr.request import Request  # type: ignore[import-untyped]

    wire = wire_of(asked.method, urlsplit(asked.url).path)
    assert wire is not None, "a call to a model"
    url = mask_url(_at_home(asked.url, HOME.get(wire.name, wire.name)))
    return Request(asked.method, url, mask_body(asked.body), kept_headers(asked.headers))


def _at_home(url: str, host: str) -> str:
    """A loopback address as the provider's own; what stands before the endpoint goes too."""
    parts = urlsplit(url)
    if parts.hostname not in _LOOPBACK:
        return url
    path = parts.path[parts.path.rindex("/v1/") :] if "/v1/" in parts.path else parts.path
    return urlunsplit(("https", host, path, parts.query, ""))


def _response(heard: Heard) -> dict[str, Any]:
    encoding = heard.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        what = f"an answer is compressed with {encoding}, which cannot be undone here"
        raise InputError(f"{what}: have the client ask for gzip, or install its package")
    headers = kept_headers(heard.headers)
    body = mask_body(heard.body, headers.get("content-type", ""))
    return {
        "status": {"code": heard.status, "message": heard.reason},
        "headers": {name: [value] for name, value in headers.items()},
        "body": {"string": body},
    }
