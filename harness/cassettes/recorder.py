"""A recording in the making: exchanges as they end, in the order of their requests.

vcrpy hands over exchanges of this process; the recording proxy those of programs in any language.
The file is VCR's YAML. It is masked, a loopback address becomes the provider's, and the result is
scanned. An excerpt passes through the same masks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
import yaml

from harness import providers
from harness.cassettes.cassette_file import CassetteExchange, wire_of
from harness.cassettes.found_secrets import secrets_of_interactions
from harness.cassettes.timing import Timing, refitted, to_metadata
from harness.core.values.errors import InputError
from harness.core.values.machine_names import LOOPBACK_HOSTS, without_token
from harness.core.values.messages import Json, printable
from harness.files.regular_file import write_atomically
from harness.recordings.http_interaction import BASE64, Interaction, header, phrase
from harness.redaction.encoder import encoded
from harness.redaction.masking import kept_headers, mask_body, mask_url
from harness.redaction.secret_scan import refuse, without_suspects

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


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
        items = (exchange.item for exchange in exchanges)
        found = sorted(secrets_of_interactions(items, self._secrets))
        part = part_of(path)
        if any(suspect.digest not in self._allowed for suspect in found):
            self._write_cut(part, exchanges)
        refuse(found, self._allowed, str(path), part.name)
        write_atomically(path, _file_of(exchanges))

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
        write_atomically(path, _file_of(cut))


def part_of(path: Path) -> Path:
    """The file of a recording that is not whole."""
    return path.with_name(f"{path.name}.part")


def _without_suspects(
    exchange: MaskedExchange, secrets: Collection[str], allowed: Collection[str]
) -> MaskedExchange:
    """The exchange without what looks like a secret; times of a changed body are fitted to it."""

    def cut(text: str) -> str:
        return without_suspects(text, secrets, allowed)

    item, timing = exchange.item, exchange.timing
    clean = _cut_body(item.response_body, cut)
    if timing is not None:
        pieces = refitted(timing.pieces, item.response_body, clean)
        timing = msgspec.structs.replace(timing, pieces=pieces)
    made = msgspec.structs.replace(
        item,
        uri=cut(item.uri),
        request_headers=_cut_headers(item.request_headers, cut),
        request_body=_cut_body(item.request_body, cut),
        response_headers=_cut_headers(item.response_headers, cut),
        response_body=clean,
    )
    return MaskedExchange(made, timing)


def _cut_headers(headers: dict[str, list[str]], cut: Callable[[str], str]) -> dict[str, list[str]]:
    return {name: [*map(cut, values)] for name, values in headers.items()}


def _cut_body(body: bytes, cut: Callable[[str], str]) -> bytes:
    """The body without suspects. Bytes that are not UTF-8 are replaced."""
    text = body.decode("utf-8", "replace")
    return body if (said := cut(text)) == text else said.encode()


def _file_of(exchanges: Sequence[MaskedExchange]) -> bytes:
    items = [exchange.item for exchange in exchanges]
    return vcr_file(items, to_metadata(exchange.timing for exchange in exchanges))


def vcr_file(items: Iterable[Interaction], metadata: dict[str, Json] | None = None) -> bytes:
    """A cassette as vcrpy writes it, except that letters outside ASCII stay as they are."""
    held: dict[str, Json] = {"interactions": [*map(_vcr_interaction, items)]}
    held |= {"metadata": metadata} if metadata else {}
    held["version"] = 1
    said = printable(held)  # YAML cannot say half a surrogate pair; it becomes its escape
    return encoded(yaml.dump(said, Dumper=_Dumper, sort_keys=False, allow_unicode=True))


def _vcr_interaction(item: Interaction) -> dict[str, Json]:
    return {
        "request": {
            "body": _text(item.request_body),
            "headers": item.request_headers,
            "method": item.method,
            "uri": item.uri,
        },
        "response": {
            "body": {"string": _text(item.response_body) or ""},
            "headers": item.response_headers,
            "status": {"code": item.status, "message": item.reason},
        },
    }


def _text(body: bytes) -> str | bytes | None:
    """A body as text where it is text, and reading the file gives the same bytes."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body
    return body if text.startswith(BASE64) else text or None


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
    """An exchange as it is written, and when."""

    item: Interaction
    timing: Timing | None


def masked_exchange(asked: SentRequest, heard: ReceivedAnswer) -> MaskedExchange:
    """An exchange as it is written; InputError for a body that cannot be searched for keys."""
    wire = wire_of(asked.method, urlsplit(asked.url).path)
    assert wire is not None, "a call to a model"
    encoding = heard.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        what = f"an answer is compressed with {encoding}, which cannot be undone here"
        raise InputError(f"{what}: have the client ask for gzip, or install its package")
    item = _masked(
        Interaction(
            method=asked.method,
            uri=_at_home(asked.url, providers.record(wire.name).host),
            request_headers=_listed(asked.headers),
            request_body=asked.body,
            status=heard.status,
            reason=heard.reason,
            response_headers=_listed(heard.headers),
            response_body=heard.body,
        )
    )
    timing = heard.timing
    if timing is not None:
        pieces = refitted(timing.pieces, heard.body, item.response_body)
        timing = msgspec.structs.replace(timing, pieces=pieces)
    return MaskedExchange(item, timing)


def _masked(item: Interaction) -> Interaction:
    response_headers = _kept(item.response_headers)
    return msgspec.structs.replace(
        item,
        uri=mask_url(item.uri),
        request_headers=_kept(item.request_headers),
        request_body=mask_body(item.request_body),
        response_headers=response_headers,
        response_body=mask_body(item.response_body, header(response_headers, "content-type")),
    )


def _listed(headers: Mapping[str, str]) -> dict[str, list[str]]:
    return {name: [value] for name, value in headers.items()}


def _kept(headers: dict[str, list[str]]) -> dict[str, list[str]]:
    return _listed(kept_headers({name: ", ".join(values) for name, values in headers.items()}))


def _at_home(url: str, host: str) -> str:
    """A loopback address as the provider's own, without the path before the endpoint."""
    parts = urlsplit(without_token(url))
    if parts.hostname not in LOOPBACK_HOSTS:
        return url
    version = next((v for v in _VERSIONS if v in parts.path), "")
    path = parts.path[parts.path.rindex(version) :] if version else parts.path
    return urlunsplit(("https", host, path, parts.query, ""))


def excerpt(exchanges: Iterable[CassetteExchange]) -> bytes:
    """The file of a cassette with these exchanges, in VCR's YAML."""
    return vcr_file(map(_interaction, exchanges))


def _interaction(exchange: CassetteExchange) -> Interaction:
    answer = exchange.answer
    wire = wire_of(exchange.method, exchange.path)
    host = providers.record(wire.name).host if wire else "localhost"
    query = exchange.query
    return _masked(
        Interaction(
            method=exchange.method,
            uri=f"https://{host}/{exchange.path.lstrip('/')}" + (query and f"?{query}"),
            request_headers={"content-type": ["application/json"]},
            request_body=exchange.body,
            status=answer.status,
            reason=phrase(answer.status),
            response_headers=_listed(answer.headers),
            response_body=answer.body,
        )
    )
