"""A client of the Gemini API over plain HTTP, with the retries of an SDK.

The wait comes from `retry-after`, or from `RetryInfo` in the details of the error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from harness.agent.models.http_retries import MAX_RETRIES, APIConnectionError, APIError, tried
from harness.agent.models.timeouts import CONNECT_S, SILENCE_MAX_S
from harness.core.values.brief import Brief

_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


class GeminiClient:
    """Sends requests, with retries for temporary errors; `with_options` works as in the SDKs."""

    def __init__(
        self,
        brief: Brief,
        *,
        base_url: str = "",
        headers: Mapping[str, str] | None = None,
        timeout_s: float = SILENCE_MAX_S,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        self._brief, self._base_url, self._headers = brief, base_url, dict(headers or {})
        self._timeout_s, self._max_retries = timeout_s, max_retries
        self._http: Any = None

    def with_options(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        base_url: str | None = None,
        default_headers: Mapping[str, str] | None = None,
    ) -> GeminiClient:
        """Return a client with these settings changed."""
        return GeminiClient(
            self._brief,
            base_url=base_url or self._base_url,
            headers={**self._headers, **(default_headers or {})},
            timeout_s=timeout or self._timeout_s,
            max_retries=self._max_retries if max_retries is None else max_retries,
        )

    def post(self, path: str, body: bytes, headers: Mapping[str, str], *, stream: bool) -> Any:
        """The response to a request. Its body is read, unless it is a stream.

        Raises APIError or APIConnectionError after the last attempt.
        """

        def send(tries: int) -> Any:
            counted = {**headers, "x-stainless-retry-count": str(tries)}
            return self._sent(path, body, counted, stream=stream)

        return tried(send, self._max_retries)

    def _sent(self, path: str, body: bytes, headers: Mapping[str, str], *, stream: bool) -> Any:
        library, http = _library(), self._opened()
        url = (self._base_url or self._brief.base_url) + path
        key = {"x-goog-api-key": self._brief.api_key, "content-type": "application/json"}
        try:
            request = http.build_request(
                "POST", url, content=body, headers={**key, **self._headers, **headers}
            )
            response = http.send(request, stream=stream)
            if stream and response.status_code >= 400:
                response.read()
        except library.RequestError as error:
            raise APIConnectionError(str(error) or type(error).__name__) from error
        if response.status_code >= 400:
            raise _refused(response)
        return response

    def _opened(self) -> Any:
        if self._http is None:
            library = _library()
            timeout = library.Timeout(self._timeout_s, connect=CONNECT_S)
            transport = self._brief.transport
            self._http = library.Client(transport=transport, timeout=timeout, trust_env=False)
        return self._http


def _library() -> Any:
    try:
        import httpx2 as library
    except ImportError:
        import httpx as library  # type: ignore[no-redef]
    return library


def _refused(response: Any) -> APIError:
    word, delay = _word_and_delay(response.text)
    headers = dict(response.headers)
    if delay and "retry-after" not in headers:
        headers["retry-after"] = delay
    text = f"Error code: {response.status_code} - {response.text}"
    return APIError(text, response.status_code, word, headers)


def _word_and_delay(text: str) -> tuple[str | None, str]:
    """The status word of an error, and the seconds that its `RetryInfo` asks for."""
    try:
        body = json.loads(text)
        # A stream that is not of server-sent events is a list, also when it holds an error.
        error = (body[0] if isinstance(body, list) else body)["error"]
        details = error.get("details") or ()
        delays = (_DELAY.fullmatch(str(detail.get("retryDelay"))) for detail in details)
        return error.get("status"), next((found[1] for found in delays if found), "")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None, ""
