"""VCR cassettes of calls to models, in the dialects of their writers.

vcrpy writes `interactions`, `uri` and `{string}` bodies; pytest plug-ins add `parsed_body`. go-vcr
writes `url` and plain bodies; Ruby's VCR writes `http_interactions`. Some writers keep one
interaction in a JSON file.
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
_YAML_KEY = re.compile(rb"^(?:http_)?interactions:", re.MULTILINE)
_JSON_KEY = re.compile(rb'\A\s*\{\s*"(?:(?:http_)?interactions"|(request|version|recorded_with)")')
_FURTHER_KEYS = {b"request": b'"response"', b"version": b'interactions"'}


def is_vcr(data: bytes) -> bool:
    """Whether the bytes are meant as a cassette."""
    opening = _JSON_KEY.match(data)
    if opening is None:
        return _YAML_KEY.search(data) is not None
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
    if not isinstance(held, list):
        wanted = "interactions, http_interactions or request"
        raise InputError(f"a cassette has a list {wanted}, this has none", "line 1")
    return [f.mapping(item) for item in held]


def load(data: bytes) -> dict[str, Json]:
    """The mapping of a cassette; raises InputError, with the line, for anything else."""
    parse = json_documents.load if json_documents.is_json(data) else yaml_documents.parse
    value = parse(data)
    if not isinstance(value, dict):
        raise InputError(f"a cassette is a mapping, this is a {type(value).__name__}", "line 1")
    return value
