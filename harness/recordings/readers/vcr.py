"""VCR cassettes of calls to models, in the dialects of their writers.

vcrpy writes `interactions`, `uri` and `{string}` bodies; pytest plug-ins add `parsed_body`. go-vcr
writes `url` and plain bodies; Ruby's VCR writes `http_interactions`. LangChain's own serializer
writes all `requests`, then all `responses`. Braintrust's recorder writes `entries` whose bodies say
their `kind`; a large body stands in a file beside it. Some writers keep one interaction in a JSON
file.
"""

from __future__ import annotations

import re

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents, model_exchange, yaml_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording

_LISTS = ("interactions", "http_interactions")
_HALVES = ("requests", "responses")
_ENTRIES = "entries"
_YAML_KEY = re.compile(rb"^(?:http_)?interactions:|\Arequests:\n- |^responses:\n- ", re.MULTILINE)
_JSON_KEY = re.compile(
    rb'\A\s*\{\s*"(?:(?:http_)?interactions"|(request|version|recorded_with|entries|meta)")'
)
_ENTRY = re.compile(rb'"(?:matchKey|callIndex)"|\A\s*\{\s*"entries"\s*:\s*\[\s*\]')
_FURTHER_KEYS = {b"request": b'"response"', b"version": b'interactions"'}


def is_vcr(data: bytes) -> bool:
    """Whether the bytes are meant as a cassette."""
    opening = _JSON_KEY.match(data)
    if opening is None:
        return not json_documents.is_json(data) and _YAML_KEY.search(data) is not None
    if opening[1] in (b"entries", b"meta", b"version") and _ENTRY.search(data):
        return True
    return opening[1] is None or _FURTHER_KEYS.get(opening[1], b'interactions"') in data


@recognised_by(is_vcr)
def vcr(document: bytes) -> Recording:
    """VCR cassette.

    Raises InputError, with the place, for what has no list of interactions.
    """
    return model_exchange.recording(interactions(load(document)))


def interactions(cassette: dict[str, Json]) -> list[dict[str, Json]]:
    """The exchanges of a cassette as they are written; raises InputError without a list of them."""
    held = next((cassette[name] for name in _LISTS if name in cassette), None)
    if held is None and "request" in cassette:
        held = [cassette]
    if held is None and all(isinstance(cassette.get(name), list) for name in _HALVES):
        held = _joined(*(f.listed(cassette[name]) for name in _HALVES))
    if held is None and _ENTRIES in cassette:
        held = [_of_entry(entry) for entry in f.objects(cassette[_ENTRIES])]
    if not isinstance(held, list):
        wanted = "interactions, http_interactions, requests, entries or request"
        raise InputError(f"a cassette has a list {wanted}, this has none", "line 1")
    return [f.mapping(item) for item in held]


def _joined(requests: list[Json], responses: list[Json]) -> list[Json]:
    if len(requests) != len(responses):
        what = f"{len(requests)} requests and {len(responses)} responses: which belong together?"
        raise InputError(what, "line 1")
    return [{"request": r, "response": a} for r, a in zip(requests, responses, strict=True)]


def _of_entry(entry: dict[str, Json]) -> dict[str, Json]:
    """An entry of Braintrust's recorder in the keys of vcrpy."""
    made = {**entry}
    for half in ("request", "response"):
        part = f.mapping(entry.get(half))
        if part:
            made[half] = {**part, **_body(f.mapping(part.get("body")))}
    return made


def _body(body: dict[str, Json]) -> dict[str, Json]:
    match f.text(body.get("kind")):
        case "json":
            return {"body": {"type": "json", "content": body.get("value")}}
        case "sse":
            events = [f"{f.as_text(chunk)}\n\n" for chunk in f.listed(body.get("chunks"))]
            return {"body": "".join(events)}
        case "base64":
            return {"body": {"base64_string": body.get("value")}}
        case "binary":
            return {"body": None, "lack": "the body stands in another file"}
    return {"body": body.get("value")}


def load(data: bytes) -> dict[str, Json]:
    """The mapping of a cassette; raises InputError, with the line, for anything else."""
    parse = json_documents.load if json_documents.is_json(data) else yaml_documents.parse
    value = parse(data)
    if not isinstance(value, dict):
        raise InputError(f"a cassette is a mapping, this is a {type(value).__name__}", "line 1")
    return value
