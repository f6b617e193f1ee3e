"""The installed SDKs' own clients, on the in-process transport or on loopback.

One generator makes both SDKs, so names match: package, client class, `Default...Client`. The last
extends httpx2, or httpx before anthropic 1 and openai 3; the transport fits either.
"""

from __future__ import annotations

import importlib
import os
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from harness.core.values.errors import PackageMissing
from harness.core.values.machine_names import DUMMY_KEY
from harness.providers import record, records
from harness.providers.shared.hosts import hosts
from harness.providers.shared.record import Sdk

BASE_URL = "http://loop-harness.invalid"
"""Where in-process clients believe the provider to be; a name that never resolves."""


def sdks() -> tuple[Sdk, ...]:
    """The SDKs of all providers, each once."""
    return tuple({record.sdk.package: record.sdk for record in records()}.values())


def model_environment(url: str) -> dict[str, str]:
    """What the clients of all SDKs read from their environment, for a model at a URL."""
    named: dict[str, str] = {}
    for sdk in sdks():
        named[sdk.base_url_name] = url + sdk.base_path
        named[sdk.key_name] = DUMMY_KEY
    return named


@contextmanager
def dummy_keys() -> Iterator[None]:
    """In the block each SDK finds a key in its environment: a client needs one to be built."""
    missing = {sdk.key_name for sdk in sdks()} - os.environ.keys()
    os.environ.update(dict.fromkeys(missing, DUMMY_KEY))
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)


def host_environment(url: str) -> dict[str, str]:
    """What clients for other hosts read from their environment; a recording leaves them alone."""
    return {host.variable: url for host in hosts().values() if host.variable}


def import_sdk(wire: str) -> None:
    """Import the SDK of a provider with what it imports late, if it is installed."""
    package = record(wire).sdk.package
    for name in (package, f"{package}.resources", "anyio._backends._asyncio"):
        with suppress(ImportError):
            importlib.import_module(name)


def without_certificates() -> ssl.SSLContext:
    """For a client that speaks plain HTTP: to load the certificates, which it never needs,
    takes 35 ms a client. A server that did speak TLS would be refused."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def http_library() -> ModuleType:
    """The HTTP library of the installed SDKs: httpx2, or httpx where there is no newer one."""
    try:
        return importlib.import_module("httpx2")
    except ImportError:
        return importlib.import_module("httpx")


def sdk_of_package(package: str) -> Sdk:
    """The SDK that is this package."""
    return next(sdk for sdk in sdks() if sdk.package == package)


def sdk_client(package: str, transport: Any, *, asynchronous: bool, **settings: Any) -> Any:
    """A client of the SDK `package` whose every request goes to `transport`; with None, to a
    server on loopback, whose `base_url` the settings give.

    `settings` are the client's own and win over ours. Raises PackageMissing when the package
    is not installed.
    """
    sdk = sdk_of_package(package)
    try:
        library = importlib.import_module(package)
    except ImportError as error:
        raise PackageMissing(package, package, "this agent") from error
    http = library.DefaultAsyncHttpxClient if asynchronous else library.DefaultHttpxClient
    usual = {"base_url": BASE_URL + sdk.base_path, "api_key": DUMMY_KEY}
    if "http_client" not in settings:
        to_loopback = transport is None
        way = {"verify": without_certificates()} if to_loopback else {"transport": transport}
        usual["http_client"] = http(**way)
    client = sdk.async_client if asynchronous else sdk.client
    return getattr(library, client)(**usual | settings)


def gemini_client(base_url: str, transports: Sequence[Any], **settings: Any) -> Any:
    """A client of google-genai, whose `aio` is its async one. That SDK takes no client of an HTTP
    library, but the arguments of both that it makes: `transports` are the two, or ().

    Raises PackageMissing when the package is not installed.
    """
    try:
        genai = importlib.import_module("google.genai")
    except ImportError as error:
        raise PackageMissing("google-genai", "gemini", "this agent") from error
    names = ("client_args", "async_client_args")
    ways = {name: {"transport": way} for name, way in zip(names, transports, strict=False)}
    options = {"base_url": base_url, **ways, **settings.pop("http_options", {})}
    return genai.Client(**{"api_key": DUMMY_KEY, **settings, "http_options": options})
