"""HTTP Archives, written by browsers, proxies and the recorders of test suites.

Bodies are decompressed text or base64, under `postData` and `content`. Polly.JS stores a compressed
body as a JSON list of base64 chunks, and the archive as YAML where its user likes to read it.
Entries are read in the order in which they began.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents, model_exchange, yaml_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording

_OPENING = re.compile(rb'\A\s*\{\s*"log"\s*:\s*\{')
_YAML_OPENING = re.compile(rb"\A(?:---\n)?log:\n")
_YAML_KEY = re.compile(rb"^  (?:entries|creator):", re.MULTILINE)


def is_har(data: bytes) -> bool:
    """Whether the bytes are meant as an archive, whole or torn."""
    if _YAML_OPENING.match(data):
        return _YAML_KEY.search(data) is not None
    return _OPENING.match(data) is not None and (b'"entries"' in data or b'"creator"' in data)


def _is_har(data: bytes) -> bool:
    if not json_documents.is_json(data):
        return is_har(data)
    return isinstance(_entries(json_documents.peek(data, b'"log"', b'"entries"')), list)


@recognised_by(_is_har)
def har(document: bytes) -> Recording:
    """HTTP Archive.

    Raises InputError for JSON without a list log.entries.
    """
    placed = entries(document)
    return model_exchange.numbered_recording((number, exchange(entry)) for number, entry in placed)


def entries(archive: bytes) -> list[tuple[int, dict[str, Json]]]:
    """The entries in the order in which they began, each with its place in the file, from 1.

    Entries without a time stay in the order of the file. Raises InputError for JSON without a list
    of entries.
    """
    parse = json_documents.load if json_documents.is_json(archive) else yaml_documents.parse
    found = _entries(parse(archive))
    if not isinstance(found, list):
        raise InputError("an archive has a list log.entries, this has none", "line 1")
    placed = [(number, f.mapping(entry)) for number, entry in enumerate(found, start=1)]
    begun = [_begun(entry) for _, entry in placed]
    if None in begun:
        return placed
    order = sorted(zip(begun, placed, strict=True), key=lambda pair: pair[0] or _NO_TIME)
    return [entry for _, entry in order]


_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def _entries(value: Json) -> Json:
    return f.mapping(f.mapping(value).get("log")).get("entries")


def _begun(entry: dict[str, Json]) -> datetime | None:
    try:
        begun = datetime.fromisoformat(f.text(entry.get("startedDateTime")))
    except ValueError:
        return None
    return begun if begun.tzinfo else begun.replace(tzinfo=UTC)


def exchange(entry: dict[str, Json]) -> dict[str, Json]:
    """An entry as an exchange, in VCR's keys.

    `not_http` says why it is not HTTP; a response that is not whole says why in `lack`.
    """
    request, response = f.mapping(entry.get("request")), f.mapping(entry.get("response"))
    answered = _part(response, f.mapping(response.get("content")))
    return {
        "request": request and _part(request, f.mapping(request.get("postData"))),
        "response": {**answered, "lack": _lack(response)},
        "not_http": _websocket(entry, request, response),
    }


def _part(part: dict[str, Json], content: dict[str, Json]) -> dict[str, Json]:
    headers: dict[str, Json] = {}
    for name, value in _headers(part):
        headers.setdefault(name, []).append(value)
    if "content-type" not in map(str.lower, headers):
        headers["content-type"] = [f.text(content.get("mimeType"))]
    return {**part, "headers": headers, "body": _body(content)}


def _headers(part: dict[str, Json]) -> Iterator[tuple[str, str]]:
    """Headers, without those that HTTP/2 has in place of the first line."""
    for header in f.objects(part.get("headers")):
        name = f.text(header.get("name"))
        if name and not name.startswith(":"):
            yield name, f.as_text(header.get("value"))


def _body(content: dict[str, Json]) -> Json:
    text = content.get("text")
    if not isinstance(text, str):
        return None
    if content.get("encoding") != "base64":
        return text.encode("utf-8", "surrogatepass")
    chunks = f.parse(text.encode("utf-8", "replace")) if text[:1] == "[" else [text]
    try:
        return b"".join(base64.b64decode(chunk) for chunk in f.listed(chunks))
    except (ValueError, TypeError):
        return {"base64_string": text}


_SWITCHING = 101


def _websocket(entry: dict[str, Json], request: dict[str, Json], response: dict[str, Json]) -> str:
    is_one = (
        entry.get("_resourceType") == "websocket"
        or "_webSocketMessages" in entry
        or f.text(request.get("url")).startswith(("ws:", "wss:"))
        or response.get("status") == _SWITCHING
    )
    return "a websocket, whose messages are not HTTP answers" if is_one else ""


def _lack(response: dict[str, Json]) -> str:
    """Why a response is not whole, "" for a whole one."""
    if (f.whole(response.get("status")) or 0) <= 0:
        return "no answer came, the response has no status"
    content = f.mapping(response.get("content"))
    text, size = content.get("text"), f.whole(content.get("size"))
    if not isinstance(text, str):
        return "" if size == 0 else "no body, content has no text"
    return "the body is truncated" if _is_truncated(content, response, text, size or 0) else ""


def _is_truncated(
    content: dict[str, Json], response: dict[str, Json], text: str, size: int
) -> bool:
    """A size may count compressed bytes, so it tells only of a body that was not compressed."""
    if "truncated" in f.text(content.get("comment")).lower():
        return True
    names = {name.lower() for name, _ in _headers(response)}
    if content.get("encoding") == "base64" or "content-encoding" in names:
        return False
    return len(text.encode("utf-8", "surrogatepass")) < size and f.parse(text) is None
