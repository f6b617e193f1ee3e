"""The mounted transport: unchanged agents with a hard-coded URL, in process.

httpx2 and httpx hand requests under the mounted URLs to the run. respx patches only httpx, so its
`Mocker` is subclassed here. An unpatched client would silently use the network. So a canary tests
each kind of client first, on a local port without a listener.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, ClassVar
from urllib.parse import urlsplit

from harness.core.values.errors import HarnessError, InputError, PackageMissing
from harness.providers import record
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport, library_of
from harness.transports.sdk_clients import dummy_keys, without_certificates

LIBRARIES = ("httpx2", "httpx")
CANARY = "http://127.0.0.1:1/loop-harness-canary"

_OURS, _ASYNC = "loop-harness", "loop-harness-async"


@contextmanager
def mounted(dispatcher: Dispatcher, urls: Sequence[str]) -> Iterator[None]:
    """Every request below one of `urls`, of any client of httpx2 or httpx, reaches the dispatcher.

    Everything else goes where it went before. An SDK finds a dummy key where the environment has
    none. Raises InputError for what is not a URL, or without the package respx; HarnessError when a
    canary is not intercepted.
    """
    respx = _respx()
    router = respx.MockRouter(using=_mocker().name, assert_all_called=False)
    router.route(url=CANARY).mock(side_effect=_canary_answer)
    for url in urls:
        transport: Any = HttpxTransport(dispatcher, _prefix(url))
        router.route(url__startswith=url).mock(side_effect=lambda r, t=transport: _answer(r, t))
    router.route().pass_through()
    with router, dummy_keys():
        for library in _libraries():
            _send_canaries(library)
        yield


@contextmanager
def mounted_by_option(wanted: object, dispatcher: Dispatcher) -> Iterator[None]:
    """What a target's option `mount` asks for: nothing, `true` for the provider's URL, or URLs."""
    if not wanted:
        yield
        return
    provider = record(dispatcher.transition.scenario.wire).url
    with mounted(dispatcher, [provider] if wanted is True else str(wanted).split(",")):
        yield


def _prefix(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("no URL; for example https://api.anthropic.com", f"mount={url}")
    return parts.path.rstrip("/")


def _respx() -> Any:
    try:
        return importlib.import_module("respx")
    except ImportError:
        raise PackageMissing("respx", "respx", "a mounted URL", "mount") from None


@cache
def _mocker() -> Any:
    """Make the `Mocker` for both libraries once: respx registers it by name."""
    import httpx
    from respx.mocks import AbstractRequestMocker

    class Mocker(AbstractRequestMocker):
        """Requests, answers and errors pass through respx untouched, inside its own."""

        name = _OURS
        targets: ClassVar = [
            f"{library.__name__}.{transport}"
            for library in _libraries()
            for transport in ("HTTPTransport", "AsyncHTTPTransport")
        ]
        target_methods: ClassVar = ["handle_request", "handle_async_request"]

        @classmethod
        def to_httpx_request(cls, **kwargs: Any) -> Any:
            request = kwargs["request"]
            extensions = {_OURS: request, _ASYNC: False}
            return httpx.Request(request.method, str(request.url), extensions=extensions)

        @classmethod
        async def prepare_async_request(cls, httpx_request: Any, **rest: Any) -> Any:
            httpx_request.extensions[_ASYNC] = True
            return httpx_request, rest

        @classmethod
        def from_sync_httpx_response(cls, httpx_response: Any, target: Any, **_: Any) -> Any:
            return httpx_response.extensions[_OURS]

        @classmethod
        async def from_async_httpx_response(cls, httpx_response: Any, target: Any, **_: Any) -> Any:
            return httpx_response.extensions[_OURS]

    return Mocker


def _libraries() -> list[ModuleType]:
    return [importlib.import_module(n) for n in LIBRARIES if importlib.util.find_spec(n)]


def _answer(shown: Any, transport: Any) -> Any:
    request = shown.extensions[_OURS]
    if shown.extensions[_ASYNC]:
        return _answer_async(request, transport)
    return _wrapped(transport.handle_request(request))


async def _answer_async(request: Any, transport: Any) -> Any:
    return _wrapped(await transport.handle_async_request(request))


def _canary_answer(shown: Any) -> Any:
    request = shown.extensions[_OURS]
    answer = _wrapped(library_of(request.__class__).Response(204))
    return _awaitable(answer) if shown.extensions[_ASYNC] else answer


async def _awaitable(answer: Any) -> Any:
    return answer


def _wrapped(response: Any) -> Any:
    import httpx

    return httpx.Response(200, extensions={_OURS: response})


def _send_canaries(library: ModuleType) -> None:
    """Raise HarnessError unless a sync and an async client of the library are intercepted."""
    for kind, send in (("Client", _sync_canary), ("AsyncClient", _async_canary)):
        try:
            status = send(library)
        except Exception:
            status = 0
        if status != 204:
            name = f"{library.__name__}.{kind}"
            raise HarnessError(
                f"the mounted transport does not see {name}: its canary was not caught"
            )


def _sync_canary(library: ModuleType) -> int:
    with library.Client(trust_env=False, verify=without_certificates()) as client:
        return int(client.get(CANARY).status_code)


def _async_canary(library: ModuleType) -> int:
    """Step the coroutine by hand: an intercepted call never waits."""
    client = library.AsyncClient(trust_env=False, verify=without_certificates())
    sending = client.get(CANARY)
    try:
        sending.send(None)
    except StopIteration as done:
        return int(done.value.status_code)
    finally:
        sending.close()
    return 0
