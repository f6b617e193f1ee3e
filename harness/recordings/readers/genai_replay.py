"""Replays of google-genai: what the SDK keeps of its calls in its mode `record`.

The SDK keeps bodies as values: the chunks of a stream one by one, an error as it raised it. Headers
are those of the wire, and no longer fit these bodies. Addresses may begin with a mark in place of
the host. Source: googleapis/python-genai, google/genai/_replay_api_client.py.
"""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import encode
from harness.recordings import json_documents, model_exchange
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording

_STREAMED = ":streamGenerateContent"


def is_genai_replay(data: bytes) -> bool:
    """Whether the bytes are a replay."""
    value = json_documents.peek(data, b'"replay_id"', b'"interactions"')
    return isinstance(f.mapping(value).get("interactions"), list)


@recognised_by(is_genai_replay)
def genai_replay(document: bytes) -> Recording:
    """replay of google-genai.

    Raises InputError, with the place, for JSON that is torn.
    """
    return model_exchange.recording(exchanges(document))


def exchanges(replay: bytes) -> list[dict[str, Json]]:
    """The exchanges of a replay in VCR's keys; raises InputError for a torn one."""
    held = f.mapping(json_documents.load(replay))
    return [_exchange(item) for item in f.objects(held.get("interactions"))]


def _exchange(item: dict[str, Json]) -> dict[str, Json]:
    request, response = f.mapping(item.get("request")), f.mapping(item.get("response"))
    method, url = f.text(request.get("method")).upper(), f.text(request.get("url"))
    asked, said = f.objects(request.get("body_segments")), f.objects(response.get("body_segments"))
    code = response.get("status_code", 200)  # what has its default value is left out
    streams = _STREAMED in url and code == 200
    body = b"".join(b"data: %b\r\n\r\n" % encode(chunk) for chunk in said)
    kind = "text/event-stream" if streams else "application/json"
    return {
        "request": {"method": method, "uri": url, "body": encode(asked[0]) if asked else b""},
        "response": {
            "status": {"code": code},
            "headers": {"content-type": [kind]},
            "body": body if streams else encode(said[0]) if said else b"",
        },
    }
