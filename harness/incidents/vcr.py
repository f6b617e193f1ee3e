"""VCR cassettes of calls to models, in the dialects of their writers.

Python's vcrpy keeps `interactions` with `uri` and `{string}` bodies, pytest plug-ins add
`parsed_body`, go-vcr says `url` and plain bodies, Ruby's VCR says `http_interactions`, and some
keep one interaction in a JSON file. Every POST to a known model path is one transcript: the
request's messages and the answer's. Every other POST is a refusal with its reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from harness.core.errors import InputError
from harness.core.messages import Json
from harness.core.ports import Parsed
from harness.incidents import llm_paths, yaml_tags
from harness.incidents.bodies import Unreadable, body_bytes, is_text
from harness.incidents.shapes import (
    anthropic,
    converse,
    gemini,
    openai_chat,
    openai_responses,
)
from harness.incidents.shapes import fields as f
from harness.incidents.transcripts import Asked, Recording, Refusal, Transcript, encodable
from harness.wires.codec import decode

_SHAPES = {
    "anthropic": anthropic,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "gemini": gemini,
    "bedrock-converse": converse,
}

_LISTS = ("interactions", "http_interactions")
_YAML_KEY = re.compile(rb"^(?:http_)?interactions:", re.MULTILINE)
_JSON_KEY = re.compile(rb'\A\s*\{\s*"(?:(?:http_)?interactions|request|version|recorded_with)"')


def looks_like(data: bytes) -> bool:
    """Whether the bytes are meant as a cassette."""
    return bool(_YAML_KEY.search(data) or _JSON_KEY.match(data))


def read(data: bytes) -> Recording:
    """A cassette; raises InputError, with the place, when it is none."""
    cassette = _load(data)
    transcripts: list[Transcript] = []
    refusals: list[Refusal] = []
    for number, exchange in enumerate(_interactions(cassette), start=1):
        place = f"interaction {number}"
        for found in _read_one(exchange, place):
            (transcripts if isinstance(found, Transcript) else refusals).append(found)  # type: ignore[arg-type]
    return Recording("vcr", tuple(transcripts), tuple(refusals))


def _load(data: bytes) -> dict[str, Json]:
    value = _json(data) if data.lstrip()[:1] == b"{" else yaml_tags.parse(data)
    if not isinstance(value, dict):
        raise InputError(f"a cassette is a mapping, this is a {type(value).__name__}", "line 1")
    return value


def _json(data: bytes) -> Json:
    try:
        return decode(data)
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error.msg}", f"line {error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON: {error}", "line 1") from None


def _interactions(cassette: dict[str, Json]) -> list[dict[str, Json]]:
    held = next((cassette[name] for name in _LISTS if name in cassette), None)
    if held is None and "request" in cassette:
        held = [cassette]
    if not isinstance(held, list):
        wanted = "interactions, http_interactions or request"
        raise InputError(f"a cassette has a list {wanted}, this has none", "line 1")
    return [f.mapping(item) for item in held]


def _read_one(exchange: dict[str, Json], place: str) -> Iterator[Transcript | Refusal]:
    request, response = f.mapping(exchange.get("request")), f.mapping(exchange.get("response"))
    if not request:
        yield Refusal(place, "no request")
    if f.text(request.get("method")).upper() != "POST":
        return
    path = _path(request)
    wire = llm_paths.shape_of(path)
    if not wire:
        yield Refusal(place, llm_paths.refusal(path))
        return
    try:
        asked = _asked(request, wire)
    except Unreadable as error:
        yield Refusal(place, f"request: {error}")
        return
    answered, why = _answered(response, wire)
    if why:
        yield Refusal(place, f"response: {why}")
    yield _transcript(place, wire, asked, answered, _status(response))


def _path(request: dict[str, Json]) -> str:
    try:
        return urlsplit(f.text(request.get("uri")) or f.text(request.get("url"))).path
    except ValueError:
        return ""


def _asked(request: dict[str, Json], wire: str) -> Asked:
    value = f.parse(body_bytes(request, _header(request, "content-encoding")))
    if not isinstance(value, dict):
        raise Unreadable("no JSON object")
    asked: Asked | None = _SHAPES[wire].request(value)
    if asked is None:
        raise Unreadable("no list of messages")
    return asked


def _answered(response: dict[str, Json], wire: str) -> tuple[Parsed, str]:
    """The answer, and why it could not be read."""
    missing = Parsed(None, complete=False)
    kind = _header(response, "content-type")
    try:
        body = body_bytes(response, _header(response, "content-encoding"))
        if not body:
            return missing, "no body"
        if "eventstream" not in kind and not is_text(body):
            return missing, "body is no text"
        parsed: Parsed = _SHAPES[wire].answer(body, kind)
    except Unreadable as error:
        return missing, str(error)
    said = parsed.message is not None or parsed.error is not None
    return parsed, "" if said else "no answer of a model"


def _header(part: dict[str, Json], name: str) -> str:
    """A header's value, its first one where there are several; in small letters."""
    for key, value in f.mapping(part.get("headers")).items():
        if key.lower() == name:
            first: Any = next(iter(value), "") if isinstance(value, list) else value
            return f.text(first).lower()
    return ""


def _status(response: dict[str, Json]) -> int | None:
    status = response.get("status")
    code = f.mapping(status).get("code", response.get("code", status))
    return int(code) if isinstance(code, str) and code.isdecimal() else f.whole(code)


def _transcript(
    name: str, wire: str, asked: Asked, answered: Parsed, status: int | None
) -> Transcript:
    said = answered.message
    messages = (*asked.messages, said) if said is not None else asked.messages
    error = answered.error
    if error is not None and not error.status:
        error = msgspec.structs.replace(error, status=status or 0)
    return Transcript(
        name=name,
        messages=encodable(messages),
        wire=wire,
        model=asked.model,
        system=asked.system,
        tools=asked.tools,
        stops={len(messages) - 1: answered.stop} if said is not None and answered.stop else {},
        exchange=True,
        answered=said is not None,
        complete=answered.complete,
        status=status,
        error=error,
        stateful=asked.stateful,
        stream=asked.stream,
        max_tokens=asked.max_tokens,
    )
