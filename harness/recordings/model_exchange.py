"""One recorded HTTP exchange with a model: a transcript, or the reason why there is none.

Exchanges use VCR's keys: `method`, `uri` or `url`, `headers`, `body` (or `parsed_body`), `status`.
Only the end of a path is compared, because gateways add prefixes.

Each call of an agent loop repeats the history. Read whole, a cassette would cost the square of its
session. So of a request that goes on from the last one only what is new is read. Messages that
stood in the last request are the same objects in the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import SplitResult, unquote

import msgspec

from harness import providers
from harness.core.transition.ports import Parsed
from harness.core.values.messages import Json, Message
from harness.providers.shared import event_stream, hosts
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import Unreadable
from harness.providers.shared.json_fields import RecordedApi, RecordedRequest
from harness.providers.shared.request_memory import LastRequest, NewMessages
from harness.recordings.apis import APIS, answer
from harness.recordings.http_interaction import UnpackedSize, address_of, body_bytes, is_text
from harness.recordings.transcripts import (
    Recording,
    Refusal,
    Transcript,
    answered_with,
    recording_of,
    request_alone,
)


def recording(exchanges: Iterable[dict[str, Json]]) -> Recording:
    """The exchanges of a file as a recording.

    A request of another method than POST asks no model; it is named only where a file holds
    nothing else.
    """
    return numbered_recording(enumerate(exchanges, start=1))


def numbered_recording(exchanges: Iterable[tuple[int, dict[str, Json]]]) -> Recording:
    """The exchanges of a file, each with its place in it, as a recording."""
    found: list[Transcript | Refusal] = []
    others: list[Refusal] = []
    requests, together = RecordedRequests(), UnpackedSize()
    for number, exchange in exchanges:
        place = f"interaction {number}"
        found += _transcripts_of(exchange, place, requests, together)
        others += _without_a_body(exchange, place)
    return recording_of(found or others or [Refusal("line 1", "no HTTP exchange is recorded")])


def _without_a_body(exchange: dict[str, Json], place: str) -> Iterator[Refusal]:
    request = f.mapping(exchange.get("request"))
    method = method_of(request)
    if request and method != "POST":
        yield no_model_call(place, path_of(request), method)


def _transcripts_of(
    exchange: dict[str, Json], place: str, requests: RecordedRequests, together: UnpackedSize
) -> Iterator[Transcript | Refusal]:
    """What an exchange is: a transcript, a refusal, or both for an answer that is unreadable."""
    request, response = f.mapping(exchange.get("request")), f.mapping(exchange.get("response"))
    if not request:
        yield Refusal(place, "no request")
    if why := f.text(exchange.get("not_http")):
        yield Refusal(place, why, _address(path_of(request), method_of(request)))
    if why or method_of(request) != "POST":
        return
    path = path_of(request)
    api = api_of_path(path)
    if api is None:
        yield no_model_call(place, path)
        return
    if lack := f.text(request.get("lack")):
        yield Refusal(place, f"request: {lack}")
        return
    try:
        asked = _asked(request, api, requests, together)
    except Unreadable as error:
        yield Refusal(place, f"request: {error}")
        return
    answered, why = _answered(response, api, together)
    if why:
        yield Refusal(place, f"response: {why}")
    yield _transcript(place, api.name, asked, answered, status_of(response))


class RecordedRequests:
    """Reads the requests of one file, in order."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}

    def read(self, api: RecordedApi, body: bytes) -> RecordedRequest:
        """A request; raises Unreadable for a body that is not of this API."""
        if not api.apart:
            return _whole(api, body)
        return self._lanes.setdefault(api.name, _Lane(api)).read(body) or _whole(api, body)


def _whole(api: RecordedApi, body: bytes) -> RecordedRequest:
    value = f.parse(body)
    if not isinstance(value, dict):
        raise Unreadable("not a JSON object")
    asked = api.request(value)
    if asked is None:
        raise Unreadable("no list of messages")
    return asked


class _Lane:
    """The last request of an API."""

    def __init__(self, api: RecordedApi) -> None:
        self._api, self._last = api, LastRequest(api.field)
        self._messages: list[Message] = []
        self._frame: RecordedRequest | None = None

    def read(self, body: bytes) -> RecordedRequest | None:
        """A request; None for one that must be read whole, after which nothing is remembered."""
        try:
            found = self._last.find(body)
            new = [*self._new(found)]
            if found.fields is not None:
                self._frame = self._api.request(self._fields(found.fields))
        except (ValueError, RecursionError):
            found, new = None, []
        if found is None or found.raws is None or len(new) != len(found.raws):
            self._last.forget()
            return None
        self._messages[found.keep :] = tuple(new)
        assert self._frame is not None, "the list of messages is there"
        return msgspec.structs.replace(self._frame, messages=tuple(self._messages))

    def _new(self, found: NewMessages) -> Iterator[Message]:
        """The new messages; none for an entry that is not a message, or several."""
        for value in found.values:
            made = [*self._api.messages([value])] if isinstance(value, dict) else []
            if len(made) == 1:
                yield made[0]

    def _fields(self, raws: dict[str, bytes]) -> dict[str, object]:
        return {**{name: f.parse(raw) for name, raw in raws.items()}, self._api.field: []}


def method_of(request: dict[str, Json]) -> str:
    """The method, in capitals."""
    return f.text(request.get("method")).upper()


def path_of(request: dict[str, Json]) -> str:
    """The path of the address; "" when it has none."""
    return _address_of(request).path


def _address_of(request: dict[str, Json]) -> SplitResult:
    return address_of(f.text(request.get("uri")) or f.text(request.get("url")))


def _asked(
    request: dict[str, Json], api: RecordedApi, requests: RecordedRequests, together: UnpackedSize
) -> RecordedRequest:
    asked = requests.read(api, _whole_body(request, api, together))
    return asked if api.name in providers.names() else _by_address(asked, api, path_of(request))


def _by_address(asked: RecordedRequest, api: RecordedApi, path: str) -> RecordedRequest:
    """A request of an API without a table of addresses, with what its address says of it."""
    fitting = (found for pattern in api.paths if (found := re.search(pattern, path)))
    found = next(fitting, None)
    model = unquote(found.groupdict().get("model") or "") if found else ""
    stream = asked.stream or _STREAMED.search(path) is not None
    return msgspec.structs.replace(asked, model=asked.model or model, stream=stream)


_STREAMED = re.compile(r"(-stream|:stream[A-Za-z]+)$")


def _whole_body(request: dict[str, Json], api: RecordedApi, together: UnpackedSize) -> bytes:
    """The body of a request, with what its address says of it."""
    body = body_bytes(request, header(request, "content-encoding"), together)
    if api.name not in providers.names():
        return body
    record, address = providers.record(api.name), _address_of(request)
    if hosts.is_foreign(record, address.path, body):
        raise Unreadable("a model of another maker, whose form is not known")
    return record.complete_body(address.path, address.query, body)


def _answered(
    response: dict[str, Json], api: RecordedApi, together: UnpackedSize
) -> tuple[Parsed, str]:
    """The answer, or the reason why it cannot be read."""
    missing = Parsed(None, complete=False)
    if lack := f.text(response.get("lack")):
        return missing, lack
    kind = header(response, "content-type")
    try:
        body = body_bytes(response, header(response, "content-encoding"), together)
        if not body:
            return missing, "no body"
        if not is_text(body):
            if not (event_stream.is_framed(kind) or event_stream.begins_framed(body)):
                return missing, "body is not text"
            kind = event_stream.CONTENT_TYPE  # LangChain's serializer masks every header
        parsed = answer(api, body, kind)
    except Unreadable as error:
        return missing, str(error)
    said = parsed.message is not None or parsed.error is not None
    return parsed, "" if said else _why_none(body)


def _why_none(body: bytes) -> str:
    if f.mapping(f.parse(body)).get("status") in ("queued", "in_progress"):
        return "an answer in the background, which comes elsewhere"
    return "no answer of a model"


def header(part: dict[str, Json], name: str) -> str:
    """A header's value, its first one where there are several; in small letters."""
    for key, value in f.mapping(part.get("headers")).items():
        if key.lower() == name:
            first: Any = next(iter(value), "") if isinstance(value, list) else value
            return f.text(first).lower()
    return ""


def status_of(response: dict[str, Json]) -> int | None:
    """The status, as a number."""
    status = response.get("status")
    code = f.mapping(status).get("code", response.get("code", status))
    return int(code) if isinstance(code, str) and code.isdecimal() else f.whole(code)


def _transcript(
    name: str, wire: str, asked: RecordedRequest, answered: Parsed, status: int | None
) -> Transcript:
    error = answered.error
    if error is not None and not error.status:
        error = msgspec.structs.replace(error, status=status or 0)
    exchange = answered_with(request_alone(name, wire, asked), answered)
    return msgspec.structs.replace(exchange, status=status, error=error)


_NO_TRANSCRIPT: tuple[tuple[str, str], ...] = (
    (r"/v1/(complete|completions)$|/api/generate$", "a text completion, which has no messages"),
    (r"/responses/compact$", "a compaction, whose answer is not a message of a model"),
    (r"/messages/batches$", "a batch, whose answers come elsewhere"),
    (r"/(count_tokens|input_tokens)$|:countTokens$", "a count of tokens, no model answers"),
)
"""What a provider serves beside its models, and why it gives no transcript."""

_TABLE = tuple((re.compile(path), api) for api in APIS.values() for path in api.paths)
_REASONS = tuple((re.compile(pattern), reason) for pattern, reason in _NO_TRANSCRIPT)
# A long segment with a digit is an id, and so is one that a recorder has redacted.
_CHANGING = re.compile(r"(?<=/)((?=[^/]*\d)[^/]{12,}|REDACTED[A-Z_]*)")


def api_of_path(path: str) -> RecordedApi | None:
    """The API that a path speaks; None when it is not a call to a model that we know."""
    return next((api for pattern, api in _TABLE if pattern.search(path)), None)


def no_model_call(place: str, path: str, method: str = "POST") -> Refusal:
    """Why a request asks no model, and its address with ids taken out of it."""
    reasons = (reason for pattern, reason in _REASONS if pattern.search(path))
    return Refusal(place, next(reasons, "no LLM traffic"), _address(path, method))


def _address(path: str, method: str) -> str:
    """A method and a path, with ids taken out of it."""
    return f"{method or 'no method'} {_CHANGING.sub('ID', path) or '/'}"
