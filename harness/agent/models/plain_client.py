"""A client of the Messages API without the SDK, for campaigns of many runs in process.

In process, the SDK takes most of the time of a model call. This client sends the same requests and
raises errors with the same words, without streams (`reference?client=plain`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn, Self

import msgspec

from harness.agent.models.http_retries import MAX_RETRIES, APIConnectionError, APIError, tried

TIMEOUT_S = 150.0
PATH = "/v1/messages"


class Attributes(dict[str, Any]):
    """An object of an answer, whose keys are attributes at every level."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def to_dict(self) -> dict[str, Any]:
        """The object as it was received."""
        return self


class PlainClient:
    """The part of `anthropic.Anthropic` that `AnthropicModel` uses; `messages` is the client
    itself."""

    streams = False

    def __init__(
        self,
        transport: Any,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        self._transport, self._base_url, self._url = transport, base_url, _url(base_url + PATH)
        self._headers = {"content-type": "application/json", **(headers or {})}
        self._timeout_s, self._max_retries = timeout_s, max_retries

    @property
    def messages(self) -> Self:
        """The endpoint."""
        return self

    def with_options(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        base_url: str | None = None,
        default_headers: Mapping[str, str] | None = None,
    ) -> PlainClient:
        """Return a client with these settings changed."""
        return PlainClient(
            self._transport,
            base_url or self._base_url,
            headers={**self._headers, **(default_headers or {})},
            timeout_s=timeout or self._timeout_s,
            max_retries=self._max_retries if max_retries is None else max_retries,
        )

    def create(self, **params: Any) -> Any:
        """Create a message. Raises APIError or APIConnectionError after the last attempt, and the
        error of `json` for an invalid body."""
        headers = {**self._headers, **params.pop("extra_headers", {})}
        body = msgspec.json.encode(params)
        return tried(lambda tries: _read(self._sent(body, headers, tries)), self._max_retries)

    def _sent(self, body: bytes, headers: dict[str, str], tries: int) -> Any:
        import httpx2

        timeout = {"connect": 5.0, "read": self._timeout_s, "write": 5.0, "pool": 5.0}
        request = httpx2.Request(
            "POST",
            self._url,
            headers={**headers, "x-stainless-retry-count": str(tries)},
            content=body,
            extensions={"timeout": timeout},
        )
        try:
            response = self._transport.handle_request(request)
            response.read()
        except httpx2.RequestError as error:
            raise APIConnectionError(str(error) or type(error).__name__) from error
        return response


@cache
def _url(text: str) -> Any:
    import httpx2

    return httpx2.URL(text)


def _read(response: Any) -> Any:
    if not response.is_success:
        _refuse(response)
    if "json" not in response.headers.get("content-type", ""):
        return response.text
    return json.loads(response.content, object_hook=Attributes)


def _refuse(response: Any) -> NoReturn:
    try:
        body = json.loads(response.content)
        kind = body["error"]["type"]
    except (ValueError, KeyError, TypeError):
        body, kind = response.text, None
    text = f"Error code: {response.status_code} - {body}"
    raise APIError(text, response.status_code, kind, response.headers)
