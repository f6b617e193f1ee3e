"""Some exchanges of a recording as a cassette of its own, fit to be kept with tests.

Masked as if they were recorded now: headers by allowlist, key shapes in bodies and URLs.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.cassettes import yaml_out
from harness.cassettes.endpoints import wire_of
from harness.cassettes.kept import HOME
from harness.cassettes.read import Exchange
from harness.cassettes.redact import kept_headers, mask_url
from harness.cassettes.redact_body import mask_body
from harness.recordings.interaction import Cassette, Interaction, phrase


def excerpt(exchanges: Iterable[Exchange]) -> bytes:
    """The file of a cassette with these exchanges, in VCR's YAML."""
    return yaml_out.vcr(Cassette([_interaction(one) for one in exchanges]))


def _interaction(exchange: Exchange) -> Interaction:
    answer = exchange.answer
    wire = wire_of(exchange.method, exchange.path)
    host = HOME.get(wire.name if wire else "", "localhost")
    return Interaction(
        method=exchange.method,
        uri=mask_url(f"https://{host}{exchange.path}"),
        request_headers={"content-type": ["application/json"]},
        request_body=mask_body(exchange.body),
        status=answer.status,
        reason=phrase(answer.status),
        response_headers={name: [value] for name, value in kept_headers(answer.headers).items()},
        response_body=mask_body(answer.body, answer.headers.get("content-type", "")),
    )
