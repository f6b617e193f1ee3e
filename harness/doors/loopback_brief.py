"""The brief of a Python target in real time: model calls go over loopback, the rest is at hand.

The clients are the installed SDKs' own, on a real socket, so that what only a socket can do
(resets, short bodies, stalls) happens to them for real.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.core.messages import Json
from harness.doors.in_process import InProcessBrief
from harness.doors.loopback import Loopback


class LoopbackBrief(InProcessBrief):
    """`InProcessBrief` with the model behind a URL."""

    def __init__(
        self,
        loopback: Loopback,
        session_dir: Path,
        *,
        options: Mapping[str, Json] | None = None,
        open_store: Callable[[], Any] = lambda: None,
    ) -> None:
        super().__init__(loopback.door, session_dir, options=options, open_store=open_store)
        import httpx2

        self.base_url = loopback.urls.model
        self.transport = httpx2.HTTPTransport()
        self.async_transport = httpx2.AsyncHTTPTransport()

    def anthropic(self, **settings: Any) -> Any:
        """An `anthropic.Anthropic` client on the loopback URL."""
        import anthropic

        return anthropic.Anthropic(**self._where(), **settings)

    def async_anthropic(self, **settings: Any) -> Any:
        """An `anthropic.AsyncAnthropic` client, likewise."""
        import anthropic

        return anthropic.AsyncAnthropic(**self._where(), **settings)

    def openai(self, **settings: Any) -> Any:
        """An `openai.OpenAI` client on the loopback URL."""
        import openai

        return openai.OpenAI(**self._where("/v1"), **settings)

    def async_openai(self, **settings: Any) -> Any:
        """An `openai.AsyncOpenAI` client, likewise."""
        import openai

        return openai.AsyncOpenAI(**self._where("/v1"), **settings)

    def _where(self, path: str = "") -> dict[str, Any]:
        return {"base_url": self.base_url + path, "api_key": self.api_key}
