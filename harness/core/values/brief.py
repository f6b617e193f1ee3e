"""The brief: what an agent under test receives.

Each member is a seam through which the harness sees the target. The transports implement them, in
process or over loopback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Protocol

import msgspec

from harness.core.values.calls import Approval, Inbound, OutboundKind
from harness.core.values.messages import Json


class ToolError(Exception):
    """A tool failed; the text is the error message for the model."""


class Tool(msgspec.Struct, frozen=True):
    """A tool of the scenario. `call(input, id=...)` crosses the tool seam.

    `id` is the model's id of the call. Without it the run belongs to the first open call with
    that name, preferably with the same input. It returns text or a list of content blocks, or
    raises `ToolError`. With `needs_approval` the user is asked first: `brief.ask`. A script may
    make it raise another exception, or hang. A hanging tool blocks on the run's clock, for
    `timeout_s` seconds if the caller sets them, and then raises `TimeoutError`.
    """

    name: str
    description: str
    input_schema: dict[str, Json]
    call: Callable[..., Any]
    needs_approval: bool = False


class BriefClock(Protocol):
    """The run's time, real or virtual."""

    def now_ms(self) -> int:
        """Milliseconds since the run began."""

    def sleep(self, seconds: float, /) -> None:
        """Wait; in virtual time the wait ends at once and is recorded."""


class Brief(Protocol):
    """The object that a target receives."""

    session_dir: PurePath
    clock: BriefClock
    tools: list[Tool]
    options: Mapping[str, Json]
    limits: Mapping[str, float]
    wire: str
    base_url: str
    api_key: str
    seed: int
    store: Any
    transport: Any
    async_transport: Any

    def anthropic(self, **settings: Any) -> Any:
        """A client of the SDK of this name whose every request crosses the model seam."""

    def async_anthropic(self, **settings: Any) -> Any:
        """An async client of that SDK, on the same seam."""

    def openai(self, **settings: Any) -> Any:
        """A client of the SDK of this name whose every request crosses the model seam."""

    def async_openai(self, **settings: Any) -> Any:
        """An async client of that SDK, on the same seam."""

    def gemini(self, **settings: Any) -> Any:
        """A client of google-genai, whose `aio` is the async one, on the same seam."""

    def child(self, session: str, parent: str = "main") -> Any:
        """The clients of a sub-agent: each request names its session, and its parent."""

    def inbox(self, *, cancels: bool = False) -> Iterator[Inbound]:
        """The inbound messages, until the scenario has no more; with `cancels`, also cancels."""

    def on_message(self, callback: Callable[[Inbound], object], *, cancels: bool = False) -> Any:
        """Call `callback` with each message as it comes, also while a turn runs, from a thread.

        The returned `concurrent.futures.Future` has a result at the end of the inbox, or the
        exception of the callback.
        """

    def ask(
        self,
        tool: str,
        input: Json,
        *,
        id: str = "",
        session: str = "",
        timeout_s: float | None = None,
    ) -> Approval:
        """Ask the user whether a call may run, and wait for the answer: the approval seam.

        After `timeout_s` seconds it raises TimeoutError. The user's answer stays: the same question
        asked again gets it, once it has come.
        """

    async def ask_async(
        self,
        tool: str,
        input: Json,
        *,
        id: str = "",
        session: str = "",
        timeout_s: float | None = None,
    ) -> Approval:
        """The same for an async agent: the wait is the task's, which may be cancelled."""

    def cancelled(self, session: str = "main") -> bool:
        """Whether the user has cancelled the turn that the session works on."""

    def send(
        self,
        text: str,
        kind: OutboundKind = "final",
        session: str | None = None,
        in_reply_to: str | Sequence[str] | None = None,
        status: str | None = None,
    ) -> None:
        """Say something to the user: the outbox seam. One reply may answer several messages."""
