"""The only way out of this machine: a provider's real API, for a recording.

It asks for uncompressed answers, to keep the provider's pieces; a compressed one is decoded. The
client uses httpx2's unpatched transport, so a recorder of this process records nothing twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
import msgspec

from harness.core.values.errors import HarnessError, InputError
from harness.core.values.machine_names import DUMMY_KEY
from harness.providers import records
from harness.transports.http_connection import Request
from harness.transports.sdk_clients import without_certificates

CONNECT_S, READ_S = 30.0, 600.0

_A_CONNECTION_EACH = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
"""A provider may close an idle connection at the moment of the next request. That request is lost,
and only the agent may send it again (RFC 9110, 9.2.2)."""

_HOP = frozenset((
    "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "accept-encoding", "content-length", "expect", "host",
))  # fmt: skip
"""Headers of one connection, and headers that are rewritten for the next one."""

_FRAME = _HOP | {"content-encoding"}


class Unreachable(HarnessError):
    """No answer came from upstream that could be passed on; the text says why."""


class ProviderAccess(msgspec.Struct, frozen=True):
    """Where a provider's API is, and the key for it, "" where the agent brings its own."""

    url: str
    key: str = ""


def provider_access(
    environment: Mapping[str, str], upstream: str = ""
) -> dict[str, ProviderAccess]:
    """The APIs that an environment names by the variables of their SDKs, by the SDK's package.

    `upstream` stands for all of them. Raises InputError for what is not a URL.
    """
    found = {}
    for record in records():
        sdk = record.sdk
        url = upstream or environment.get(sdk.base_url_name) or record.url
        if not re.match(r"https?://[^/\s]+", url):
            what = f"no URL of an API: {url!r}; as in {record.url}"
            raise InputError(what, "--upstream" if upstream else sdk.base_url_name)
        key = environment.get(sdk.key_name, "")
        found[sdk.package] = ProviderAccess(url, key)
    return found


class UpstreamAnswer:
    """An answer whose head is here: its body comes in pieces, as they arrive."""

    def __init__(self, url: str, response: httpx2.Response) -> None:
        self.url, self._response = url, response
        self.status, self.reason = response.status_code, response.reason_phrase
        self.headers = {
            name: value for name, value in response.headers.items() if name not in _FRAME
        }
        encoded = response.headers.get("content-encoding", "identity") != "identity"
        length = response.headers.get("content-length", "")
        self.size_bytes = int(length) if length.isdecimal() and not encoded else None
        """The length of the body where the head says it, else None."""

    def pieces(self) -> Iterator[bytes]:
        """The body's pieces, decoded. Raises EOFError where it breaks off, saying how."""
        try:
            yield from filter(None, self._response.iter_bytes())
        except httpx2.HTTPError as error:
            raise EOFError(f"{type(error).__name__}: {error}") from None


class Upstream:
    """The providers of a recording; close it when it is over."""

    def __init__(self, providers: Mapping[str, ProviderAccess]) -> None:
        self._providers = dict(providers)
        self._clients = {name: _client(p.url) for name, p in self._providers.items()}

    @contextmanager
    def ask(self, request: Request, path: str) -> Iterator[UpstreamAnswer]:
        """The answer to a request, whose `path` is that of the provider's API.

        Raises Unreachable when none comes, or one that cannot be read.
        """
        name = sdk_of(path, request.headers)
        provider, client = self._providers[name], self._clients[name]
        url = _joined(provider.url, path, request.query)
        headers = _outgoing(request.headers, provider.key)
        try:
            sent = client.build_request(request.method, url, headers=headers, content=request.body)
            response = client.send(sent, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise Unreachable(f"no answer from {url}: {error or type(error).__name__}") from None
        try:
            encoding = response.headers.get("content-encoding", "identity").lower()
            if encoding not in _decodable():
                raise Unreachable(f"{url} answers in {encoding}, which was not asked for")
            yield UpstreamAnswer(url, response)
        finally:
            response.close()

    def close(self) -> None:
        """Let go of the connections."""
        for client in self._clients.values():
            client.close()


class _Direct(httpx2.HTTPTransport):
    handle_request = httpx2.HTTPTransport.handle_request


def _client(url: str) -> httpx2.Client:
    """Make a client without default headers, through the proxy that the environment names."""
    parts = urlsplit(url)
    bypassed = not parts.hostname or bool(proxy_bypass(parts.hostname))
    proxy = None if bypassed else getproxies().get(parts.scheme)
    timeout = httpx2.Timeout(READ_S, connect=CONNECT_S)
    is_plain = parts.scheme == "http" and proxy is None
    way = {"verify": without_certificates()} if is_plain else {"proxy": proxy}
    transport = _Direct(limits=_A_CONNECTION_EACH, **way)
    client = httpx2.Client(transport=transport, timeout=timeout, trust_env=False)
    client.headers = httpx2.Headers()
    return client


@cache
def _decodable() -> frozenset[str]:
    """Return the encodings that the library would ask for by itself."""
    known = httpx2.Client().headers["accept-encoding"]
    return frozenset({"identity", *(name.strip() for name in known.split(","))})


def sdk_of(path: str, headers: Mapping[str, str]) -> str:
    """The package of the SDK that a request comes from.

    Providers have paths in common, such as that of the models. So a request is a provider's by a
    header that identifies it or by the path of its model. A request with neither goes to the
    provider that no header identifies.
    """
    for record in records():
        is_spoken = path.startswith(record.path) or record.is_spoken_at(path)
        if record.headers.identifying & headers.keys() or is_spoken:
            return record.sdk.package
    return next(r.sdk.package for r in records() if not r.headers.identifying)


def _joined(base: str, path: str, query: str) -> str:
    """Return the URL of an API path; a base may end with the version that begins the path."""
    whole = base.rstrip("/").removesuffix("/v1") + path
    return f"{whole}?{query}" if query else whole


def _outgoing(headers: Mapping[str, str], key: str) -> dict[str, str]:
    """Return the client's headers, with the real key in place of its stand-in."""
    kept = {name: value for name, value in headers.items() if name not in _HOP}
    for name, value in kept.items():
        bearer = "Bearer " if value.startswith("Bearer ") else ""
        if key and value.removeprefix(bearer) == DUMMY_KEY:
            kept[name] = bearer + key
    return {**kept, "accept-encoding": "identity"}
