"""The calls of the corpus to providers that we have: VCR of every dialect, and HAR."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from harness import providers
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared import json_fields as f
from harness.recordings import model_exchange
from harness.recordings.apis import APIS, answer
from harness.recordings.http_interaction import Unreadable, body_bytes
from harness.recordings.readers import har, vcr

FORMATS = ("vcr_yaml", "har")
_INVOKED = ("/invoke", "/invoke-with-response-stream")
"""How addresses of Bedrock end: a model of another vendor has its own form there."""


class RecordedCall(msgspec.Struct, frozen=True):
    """A request to a model, and what its provider answered.

    `number` is the place in the `file`. The `body` is complete with what the address says; it is
    `moved` where that is more than the body. `date` is the day of the answer (YYYY-MM-DD), "" where
    nothing tells it.
    """

    file: str
    number: int
    provider: str
    host: str
    body: bytes
    moved: bool
    status: int
    answer: bytes
    kind: str
    date: str

    @property
    def accepted(self) -> bool:
        """Whether the provider answered with a message."""
        return 200 <= self.status < 300

    @property
    def code(self) -> str:
        """What the provider calls the error; "-" where it has no name for it."""
        error = f.mapping(f.mapping(f.parse(self.answer)).get("error"))
        names = (f.text(error.get(name)) for name in ("code", "type", "status"))
        return next(filter(None, names), "-")

    @property
    def error(self) -> ApiError | None:
        """The error that the answer is."""
        try:
            return answer(APIS[self.provider], self.answer, self.kind).error
        except Unreadable:
            return None


def files(folder: Path) -> list[Path]:
    """All recordings of HTTP of the corpus."""
    found = (path for name in FORMATS for path in (folder / name).rglob("*") if path.is_file())
    return sorted(found)


def calls(path: Path) -> Iterator[RecordedCall]:
    """The calls of a file in recorded order.

    A request that cannot be read, or whose body was not recorded, is not a call.
    """
    try:
        exchanges = _exchanges(path)
    except InputError:
        return
    for number, exchange in enumerate(exchanges, start=1):
        call = _call(f"{path.parent.name}/{path.name}", number, exchange)
        if call is not None:
            yield call


def _exchanges(path: Path) -> list[dict[str, Json]]:
    data = path.read_bytes()
    if path.suffix == ".har":
        return [har.exchange(entry) for _, entry in har.entries(data)]
    return vcr.interactions(vcr.load(data))


def _call(file: str, number: int, exchange: dict[str, Json]) -> RecordedCall | None:
    request, response = f.mapping(exchange.get("request")), f.mapping(exchange.get("response"))
    path = model_exchange.path_of(request)
    api = model_exchange.api_of_path(path)
    status = model_exchange.status_of(response)
    if api is None or api.name not in providers.names() or status is None:
        return None
    if model_exchange.method_of(request) != "POST":
        return None
    try:
        sent = body_bytes(request, model_exchange.header(request, "content-encoding"))
    except Unreadable:
        return None
    if not sent or (path.endswith(_INVOKED) and b'"anthropic_version"' not in sent):
        return None
    address = urlsplit(f.text(request.get("uri")) or f.text(request.get("url")))
    body = providers.record(api.name).complete_body(path, address.query, sent)
    return RecordedCall(
        file=file,
        number=number,
        provider=api.name,
        host=address.hostname or "",
        body=body,
        moved=body != sent,
        status=status,
        answer=_answer(response),
        kind=model_exchange.header(response, "content-type"),
        date=_date(exchange, response),
    )


def _answer(response: dict[str, Json]) -> bytes:
    try:
        return body_bytes(response, model_exchange.header(response, "content-encoding"))
    except Unreadable:
        return b""


def _date(exchange: dict[str, Json], response: dict[str, Json]) -> str:
    said = f.text(exchange.get("recorded_at")) or model_exchange.header(response, "date")
    try:
        return parsedate_to_datetime(said).date().isoformat()
    except ValueError:
        return ""
