"""The installed SDKs' own clients, on the in-process transport or on loopback.

Both SDKs are made by one generator and name things alike: a package, a client class, and a
`Default...Client` class that extends the HTTP library which that generation rides on (httpx2, or
httpx before anthropic 1 and openai 3). The transport fits either, so nothing here depends on it.
"""

from __future__ import annotations

import importlib
import ssl
from contextlib import suppress
from typing import Any

from harness.core.values.errors import InputError

BASE_URL = "http://loop-harness.invalid"
"""Where in-process clients believe the provider to be; a name that never resolves."""

API_KEY = "loop-harness"

_SDKS = {
    "anthropic": ("Anthropic", "AsyncAnthropic", BASE_URL),
    "openai": ("OpenAI", "AsyncOpenAI", f"{BASE_URL}/v1"),
}


DUMMY_KEY = "sk-dummy"
"""The key that a program under test is given."""


def model_environment(url: str) -> dict[str, str]:
    """What the clients of both SDKs read from their environment, for a model at a URL."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": DUMMY_KEY,
    }


def warm(wire: str) -> None:
    """Import the SDK of a wire, if it is installed, so that forked children need not."""
    with suppress(ImportError):
        importlib.import_module("anthropic" if wire == "anthropic" else "openai")


def without_certificates() -> ssl.SSLContext:
    """For a client that speaks plain HTTP: to load the certificates, which it never needs,
    takes 35 ms a client. A server that did speak TLS would be refused."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def sdk_client(package: str, transport: Any, *, asynchronous: bool, **settings: Any) -> Any:
    """A client of the SDK `package` whose every request goes to `transport`; with None, to a
    server on loopback, whose `base_url` the settings give.

    `settings` are the client's own and win over ours. Raises InputError when the package is not
    installed.
    """
    try:
        sdk = importlib.import_module(package)
    except ImportError as error:
        raise InputError(f"this agent needs the package {package!r}: {error}") from error
    sync_name, async_name, base_url = _SDKS[package]
    http = sdk.DefaultAsyncHttpxClient if asynchronous else sdk.DefaultHttpxClient
    usual = {"base_url": base_url, "api_key": API_KEY}
    if "http_client" not in settings:
        to_loopback = transport is None
        way = {"verify": without_certificates()} if to_loopback else {"transport": transport}
        usual["http_client"] = http(**way)
    return getattr(sdk, async_name if asynchronous else sync_name)(**usual | settings)
