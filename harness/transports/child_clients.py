"""The clients of a sub-agent: the URL of each request names its session, a header its parent.

The headers are those that any program sends by hand, so a child of a brief is seen as any other.
"""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import quote

from harness.providers.anthropic.record import RECORD as ANTHROPIC
from harness.providers.openai_chat.record import RECORD as OPENAI_CHAT
from harness.providers.shared.record import Sdk


class _Clients(Protocol):
    base_url: str

    def anthropic(self, **settings: Any) -> Any: ...
    def async_anthropic(self, **settings: Any) -> Any: ...
    def openai(self, **settings: Any) -> Any: ...
    def async_openai(self, **settings: Any) -> Any: ...
    def gemini(self, **settings: Any) -> Any: ...


class Child:
    """A sub-agent of a brief. `base_url` and `headers` are for a client that is not an SDK's."""

    def __init__(self, brief: _Clients, session: str, parent: str) -> None:
        self._brief, self.session, self.parent = brief, session, parent
        self.base_url = f"{brief.base_url}/s/{quote(session, safe='')}"
        self.headers = {"x-harness-parent": quote(parent)}

    def anthropic(self, **settings: Any) -> Any:
        """An `anthropic.Anthropic` client of the child."""
        return self._brief.anthropic(**self._named(ANTHROPIC.sdk, settings))

    def async_anthropic(self, **settings: Any) -> Any:
        """An `anthropic.AsyncAnthropic` client, likewise."""
        return self._brief.async_anthropic(**self._named(ANTHROPIC.sdk, settings))

    def openai(self, **settings: Any) -> Any:
        """An `openai.OpenAI` client, likewise."""
        return self._brief.openai(**self._named(OPENAI_CHAT.sdk, settings))

    def async_openai(self, **settings: Any) -> Any:
        """An `openai.AsyncOpenAI` client, likewise."""
        return self._brief.async_openai(**self._named(OPENAI_CHAT.sdk, settings))

    def gemini(self, **settings: Any) -> Any:
        """A `google.genai.Client` of the child; its `aio` is the async one."""
        options = settings.pop("http_options", {})
        headers = {**options.get("headers", {}), **self.headers}
        options = {"base_url": self.base_url, **options, "headers": headers}
        return self._brief.gemini(**settings, http_options=options)

    def _named(self, sdk: Sdk, settings: dict[str, Any]) -> dict[str, Any]:
        headers = {**settings.get("default_headers", {}), **self.headers}
        return {"base_url": self.base_url + sdk.base_path, **settings, "default_headers": headers}
