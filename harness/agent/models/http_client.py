"""A client of a provider's API without an SDK, with the retries of the SDKs.

The rules of the retries are those of the SDKs, so that an agent without an SDK behaves like the
others.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from copy import copy
from functools import cache
from typing import Any, Self, TypeVar

import msgspec

from harness.agent.models.failures import APIConnectionError, APIError
from harness.agent.models.timeouts import (
    CONNECT_S,
    RETRY_AFTER_MAX_S,
    SILENCE_MAX_S,
    retry_after_s,
)

MAX_RETRIES = 2

_T = TypeVar("_T")


class HttpClient:
    """Sends requests as JSON, with retries for temporary errors."""

    def __init__(
        self,
        transport: Any,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        *,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        self._transport = transport or _library().HTTPTransport(trust_env=False)
        self._base_url, self._max_retries = base_url, max_retries
        self._headers = {"content-type": "application/json", **(headers or {})}
        self._timeout_s = SILENCE_MAX_S

    def with_options(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        base_url: str | None = None,
        default_headers: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a client with these settings changed, as the SDKs do."""
        other = copy(self)
        other._timeout_s = timeout or self._timeout_s
        other._max_retries = self._max_retries if max_retries is None else max_retries
        other._base_url = base_url or self._base_url
        other._headers = {**self._headers, **(default_headers or {})}
        return other

    def post(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str], stream: bool = False
    ) -> Any:
        """The response to a request. Its body is read, unless it is a stream.

        Raises APIError or APIConnectionError after the last attempt.
        """
        data, url = msgspec.json.encode(body), _url(self._base_url + path)

        def send(tries: int) -> Any:
            counted = {**self._headers, **headers, "x-stainless-retry-count": str(tries)}
            return self._sent(url, data, counted, stream)

        return tried(send, self._max_retries)

    def _sent(self, url: Any, data: bytes, headers: Mapping[str, str], stream: bool) -> Any:
        # The transport is called directly: in process, a client of the library would take more
        # time than the rest of a model call.
        library = _library()
        seconds = {
            "connect": CONNECT_S,
            **dict.fromkeys(("read", "write", "pool"), self._timeout_s),
        }
        request = library.Request(
            "POST", url, headers=headers, content=data, extensions={"timeout": seconds}
        )
        try:
            response = self._transport.handle_request(request)
            if not stream or not response.is_success:
                response.read()
        except library.RequestError as error:
            raise APIConnectionError(str(error) or type(error).__name__) from error
        if not response.is_success:
            raise self.refused(response)
        return response

    def refused(self, response: Any) -> APIError:
        """The error of a response with an error status."""
        raise NotImplementedError


def _library() -> Any:
    try:
        import httpx2 as library
    except ImportError:
        import httpx as library  # type: ignore[no-redef]
    return library


@cache
def _url(text: str) -> Any:
    return _library().URL(text)


def tried(send: Callable[[int], _T], max_retries: int) -> _T:
    """Call `send` with the number of earlier attempts, and return its result.

    Raises APIError or APIConnectionError after the last attempt.
    """
    tries = 0
    while True:
        try:
            return send(tries)
        except (APIError, APIConnectionError) as error:
            if tries >= max_retries or not _worth_another(error):
                raise
            time.sleep(_wait_s(error, tries))
        tries += 1


def _worth_another(error: APIError | APIConnectionError) -> bool:
    if isinstance(error, APIConnectionError):
        return True
    said = error.headers.get("x-should-retry")
    if retry_after_s(error.headers) > RETRY_AFTER_MAX_S or said == "false":
        return False
    return said == "true" or error.status_code in (408, 409, 429) or error.status_code >= 500


def _wait_s(error: APIError | APIConnectionError, tries: int) -> float:
    asked = retry_after_s(error.headers) if isinstance(error, APIError) else 0.0
    if asked > 0:
        return asked
    return float(min(0.5 * 2**tries, 8.0) * (1 - 0.25 * random.random()))
