"""The compact form of a cassette, read as the exchanges that it holds.

It says the same as VCR's own form, so it is judged the same: each call to a model is a transcript.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.messages import Json
from harness.recordings import compact_codec, exchanges
from harness.recordings.interaction import Interaction
from harness.recordings.transcripts import Recording

looks_like = compact_codec.looks_like


def read(data: bytes) -> Recording:
    """A cassette in the compact form; raises InputError, with the line, when it is none."""
    return exchanges.recording("compact", _exchanges(data))


def _exchanges(data: bytes) -> Iterator[dict[str, Json]]:
    for item in compact_codec.read(data).interactions:
        yield {"request": _request(item), "response": _response(item)}


def _request(item: Interaction) -> dict[str, Json]:
    """A request as it is spelt in a cassette of VCR."""
    body, headers = item.request_body, item.request_headers
    return {"method": item.method, "uri": item.uri, "headers": headers, "body": body}


def _response(item: Interaction) -> dict[str, Json]:
    return {
        "status": {"code": item.status, "message": item.reason},
        "headers": item.response_headers,
        "body": item.response_body,
    }
