"""A recording in the making: exchanges as they end, in the order of their requests.

vcrpy hands over exchanges of this process; the recording proxy those of programs in any language.
The file is masked, a loopback address becomes the provider's, and the result is scanned. An excerpt
passes through the same masks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from harness import providers
from harness.cassettes import conversion
from harness.cassettes.cassette_file import CassetteExchange, wire_of
from harness.cassettes.timing import Timing, refitted, to_metadata
from harness.core.values.errors import InputError
from harness.core.values.machine_names import LOOPBACK_HOSTS, without_token
from harness.files.regular_file import write_atomically
from harness.recordings.http_interaction import Cassette, Interaction, phrase
from harness.redaction.encoder import encoded
from harness.redaction.masking import kept_headers, mask_body, mask_url
from harness.redaction.secret_scan import refuse, suspects, without_suspects


class Recorder:
    """Takes exchanges from any thread, and writes them as a cassette.

    `secrets` are values that must stand nowhere in it, `allowed` the digests of false alarms.
    """

    def __init__(self, secrets: Collection[str] = (), allowed: Collection[str] = ()) -> None:
        self._secrets, self._allowed = secrets, allowed
        self._lock = threading.Lock()
        self._places = 0
        self._taken: dict[int, tuple[SentRequest, ReceivedAnswer]] = {}

    def __len__(self) -> int:
        return len(self._taken)

    def place(self) -> int:
        """The place of a request that is asked now."""
        with self._lock:
            self._places += 1
            return self._places

    def take(self, place: int, asked: SentRequest, heard: ReceivedAnswer) -> None:
        """Keep an exchange at its place, if it is a call to a model."""
        if wire_of(asked.method, urlsplit(asked.url).path) is not None:
            with self._lock:
                self._taken[place] = asked, heard

    def write(self, path: Path) -> None:
        """Write what was taken so far.

        Raises InputError when there is nothing, when it cannot be written, and when something in
        it still looks like a secret; the old file is then as it was. The recording cost money, so
        `part_of(path)` then has it without these texts.
        """
        exchanges = self._exchanges(path)
        found = sorted(suspects(_parts(exchanges), self._secrets))
        part = part_of(path)
        if any(suspect.digest not in self._allowed for suspect in found):
            self._write_cut(part, exchanges)
        refuse(found, self._allowed, str(path), part.name)
        write_atomically(path, _serialized(exchanges))

    def write_part(self, path: Path) -> None:
        """Write what was taken so far without what still looks like a secret.

        Raises InputError when there is nothing, and when it cannot be written.
        """
        self._write_cut(path, self._exchanges(path))

    def _exchanges(self, path: Path) -> list[MaskedExchange]:
        with self._lock:
            taken = [self._taken[place] for place in sorted(self._taken)]
        if not taken:
            what = "no call to a model was recorded: does the agent use the base URL of its brief?"
            raise InputError(what, str(path))
        return [masked_exchange(asked, heard) for asked, heard in taken]

    def _write_cut(self, path: Path, exchanges: Sequence[MaskedExchange]) -> None:
        cut = [_without_suspects(one, self._secrets, self._allowed) for one in exchanges]
        write_atomically(path, _serialized(cut))


def part_of(path: Path) -> Path:
    """The file of a recording that is not whole."""
    return path.with_name(f"{path.name}.part")


def _without_suspects(
    exchange: MaskedExchange, secrets: Collection[str], allowed: Collection[str]
) -> MaskedExchange:
    """The exchange without what looks like a secret; times of a changed body are fitted to it."""
    from vcr.request import Request

    def cut(text: str) -> str:
        return without_suspects(text, secrets, allowed)

    request, response = exchange.request, exchange.response
    body = response["body"]["string"]
    clean = _cut_body(body, cut)
    timing = exchange.timing
    if timing is not None:
        timing = msgspec.structs.replace(timing, pieces=refitted(timing.pieces, body, clean))
    return MaskedExchange(
        Request(
            request.method,
            cut(request.uri),
            _cut_body(request.body or b"", cut),
            {name: cut(value) for name, value in dict(request.headers).items()},
        ),
        {
            **response,
            "headers": {n: [*map(cut, values)] for n, values in response["headers"].items()},
            "body": {"string": clean},
        },
        timing,
    )


def _cut_body(body: bytes, cut: Callable[[str], str]) -> bytes:
    """The body without suspects. Bytes that are not UTF-8 are replaced."""
    text = body.decode("utf-8", "replace")
    return body if (said := cut(text)) == text else said.encode()


def _serialized(exchanges: Sequence[MaskedExchange]) -> bytes:
    from vcr.serialize import serialize
    from vcr.serializers import yamlserializer

    cassette: dict[str, Any] = {
        "requests": [exchange.request for exchange in exchanges],
        "responses": [exchange.response for exchange in exchanges],
        "metadata": to_metadata(exchange.timing for exchange in exchanges),
    }
    text = serialize(cassette, yamlserializer)
    assert isinstance(text, str)
    return encoded(text)


def _parts(exchanges: Iterable[MaskedExchange]) -> Iterator[tuple[int, str, str]]:
    """The texts that will stand in the file, by exchange and name."""
    for number, exchange in enumerate(exchanges, start=1):
        request, response = exchange.request, exchange.response
        yield number, "URL", request.uri
        yield number, "request's headers", _lines(dict(request.headers))
        yield number, "request's body", (request.body or b"").decode("utf-8", "replace")
        yield number, "answer's headers", _lines(response["headers"])
        yield number, "answer's body", response["body"]["string"].decode("utf-8", "replace")


def _lines(headers: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in headers.items())


_VERSIONS = tuple({f"/{record.path.split('/')[1]}/": None for record in providers.records()})
"""How the paths of the providers begin."""


class SentRequest(msgspec.Struct, frozen=True):
    """A request as it went out; `url` is where it went in the end."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes


class ReceivedAnswer(msgspec.Struct, frozen=True):
    """An answer as it came, without its content encoding, and when."""

    status: int
    reason: str
    headers: dict[str, str]
    body: bytes
    timing: Timing | None = None


class MaskedExchange(msgspec.Struct, frozen=True):
    """An exchange as it is written: a request and a response of vcrpy's, and when."""

    request: Any
    response: dict[str, Any]
    timing: Timing | None


def masked_exchange(asked: SentRequest, heard: ReceivedAnswer) -> MaskedExchange:
    """An exchange as it is written; InputError for a body that cannot be searched for keys."""
    response, timing = _vcr_response(heard), heard.timing
    if timing is not None:
        pieces = refitted(timing.pieces, heard.body, response["body"]["string"])
        timing = msgspec.structs.replace(timing, pieces=pieces)
    return MaskedExchange(_vcr_request(asked), response, timing)


def _vcr_request(asked: SentRequest) -> Any:
    from vcr.request import Request

    wire = wire_of(asked.method, urlsplit(asked.url).path)
    assert wire is not None, "a call to a model"
    url = mask_url(_at_home(asked.url, providers.record(wire.name).host))
    return Request(asked.method, url, mask_body(asked.body), kept_headers(asked.headers))


def _at_home(url: str, host: str) -> str:
    """A loopback address as the provider's own, without the path before the endpoint."""
    parts = urlsplit(without_token(url))
    if parts.hostname not in LOOPBACK_HOSTS:
        return url
    version = next((v for v in _VERSIONS if v in parts.path), "")
    path = parts.path[parts.path.rindex(version) :] if version else parts.path
    return urlunsplit(("https", host, path, parts.query, ""))


def _vcr_response(heard: ReceivedAnswer) -> dict[str, Any]:
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


def excerpt(exchanges: Iterable[CassetteExchange]) -> bytes:
    """The file of a cassette with these exchanges, in VCR's YAML."""
    return conversion.vcr(Cassette([_interaction(one) for one in exchanges]))


def _interaction(exchange: CassetteExchange) -> Interaction:
    answer = exchange.answer
    wire = wire_of(exchange.method, exchange.path)
    host = providers.record(wire.name).host if wire else "localhost"
    query = exchange.query
    return Interaction(
        method=exchange.method,
        uri=mask_url(f"https://{host}/{exchange.path.lstrip('/')}" + (query and f"?{query}")),
        request_headers={"content-type": ["application/json"]},
        request_body=mask_body(exchange.body),
        status=answer.status,
        reason=phrase(answer.status),
        response_headers={name: [value] for name, value in kept_headers(answer.headers).items()},
        response_body=mask_body(answer.body, answer.headers.get("content-type", "")),
    )
