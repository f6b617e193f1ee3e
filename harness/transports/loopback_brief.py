"""The brief of a Python target in real time: model calls go over loopback, the rest is at hand.

The clients are the installed SDKs' own, on a real socket, so that what only a socket can do
(resets, short bodies, stalls) happens to them for real.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.core.values.messages import Json
from harness.transports.clients import sdk_client, without_certificates
from harness.transports.in_process import InProcessBrief
from harness.transports.loopback import Loopback


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
        self.transport = httpx2.HTTPTransport(verify=without_certificates())
        self.async_transport = httpx2.AsyncHTTPTransport(verify=without_certificates())

    def _client(self, sdk: str, asynchronous: bool, settings: dict[str, Any]) -> Any:
        path = "/v1" if sdk == "openai" else ""
        where = {"base_url": self.base_url + path}
        return sdk_client(sdk, None, asynchronous=asynchronous, **where | settings)
