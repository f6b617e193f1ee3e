"""The brief of a Python target in the same process: every member crosses a seam by a plain call.

What a plan makes of a tool, the inbox or the outbox is an ordinary Python value or exception
here: `ToolError` for an error that the tool reports, `RuntimeError` for one that it raises,
`TimeoutError` and `ConnectionError` for a call that came to nothing.

MERGED: The brief of a Python target in real time: model calls go over loopback, the rest is at hand.

The clients are the installed SDKs' own, on a real socket, so that what only a socket can do
(resets, short bodies, stalls) happens to them for real.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from functools import cached_property
from itertools import count, repeat
from pathlib import Path, PurePath
from typing import Any

import msgspec

from harness.core.scenario.scenario import ToolScript
from harness.core.values.brief import BriefClock, Tool, ToolError
from harness.core.values.calls import Inbound, OutboundKind, OutboxRequest, ToolRequest
from harness.core.values.errors import RunStopped
from harness.core.values.messages import Json
from harness.core.values.plans import (
    Answer,
    Close,
    Delivered,
    Plan,
    Raise,
    Send,
    ToolAnswer,
    Value,
    until_timeout,
)
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.loopback import Loopback
from harness.transports.sdk_clients import API_KEY, BASE_URL, sdk_client, without_certificates


def _no_store() -> None:
    """A brief without a store."""


class InProcessBrief:
    """`harness.core.values.brief.Brief` for a Python target, sync or async.

    `own_time` marks the time in which the harness imports an SDK or opens a file for the agent: it
    is no waiting of the agent's.
    """

    def __init__(
        self,
        door: Dispatcher,
        session_dir: PurePath,
        *,
        options: Mapping[str, Json] | None = None,
        open_store: Callable[[], Any] = _no_store,
        own_time: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        scenario = door.transition.scenario
        self._door = door
        self.session_dir = session_dir
        self.clock: BriefClock = door.clock
        self.options: Mapping[str, Json] = dict(options or {})
        self.limits: Mapping[str, float] = msgspec.structs.asdict(scenario.limits)
        self.base_url, self.api_key = BASE_URL, API_KEY
        self.wire, self.seed = scenario.wire, scenario.seed
        self._open_store, self._own_time = open_store, own_time
        self.transport: Any = HttpxTransport(door)
        self.async_transport: Any = self.transport
        self.tools = [_tool(door, name, script) for name, script in scenario.tools.items()]

    @cached_property
    def store(self) -> Any:
        """The session store behind the store seam; an agent that asks for it has that seam."""
        with self._own_time():
            return self._open_store()

    def _client(self, sdk: str, asynchronous: bool, settings: dict[str, Any]) -> Any:
        with self._own_time():
            return sdk_client(sdk, self.transport, asynchronous=asynchronous, **settings)

    def anthropic(self, **settings: Any) -> Any:
        """An `anthropic.Anthropic` client whose every request crosses the model seam."""
        return self._client("anthropic", False, settings)

    def async_anthropic(self, **settings: Any) -> Any:
        """An `anthropic.AsyncAnthropic` client, likewise."""
        return self._client("anthropic", True, settings)

    def openai(self, **settings: Any) -> Any:
        """An `openai.OpenAI` client whose every request crosses the model seam."""
        return self._client("openai", False, settings)

    def async_openai(self, **settings: Any) -> Any:
        """An `openai.AsyncOpenAI` client, likewise."""
        return self._client("openai", True, settings)

    def mcp_server(self) -> Any:
        """The tools as an MCP server of this process, for `mcp.Client(brief.mcp_server())`."""
        from harness.transports.mcp_tools import in_process_server

        with self._own_time():
            return in_process_server(self._door)

    def inbox(self) -> Iterator[Inbound]:
        """The inbound messages, until the scenario has no more; asking ends the turn before."""
        while True:
            value = outcome(self._door, self._door.next_inbound(), "the inbox")
            if not isinstance(value, Delivered) or value.inbound is None:
                return
            yield value.inbound

    def cancelled(self, session: str = "main") -> bool:
        """Whether the user has cancelled the turn that the session works on."""
        return self._door.cancelled(session)

    def send(
        self,
        text: str,
        kind: OutboundKind = "final",
        session: str | None = None,
        in_reply_to: str | None = None,
        status: str | None = None,
    ) -> None:
        """Say something to the user. Raises what a fault makes of the delivery."""
        request = OutboxRequest(kind, text, in_reply_to or "", status or "")
        outcome(self._door, self._door.outbox(request, session or ""), "the outbox")


def _tool(door: Dispatcher, name: str, script: ToolScript) -> Tool:
    kept: list[Json] = []
    calls = count(1)

    def call(input: Json, *, id: str, session: str = "", timeout_s: float | None = None) -> Any:
        plan = door.tool(ToolRequest(id, name, deepcopy(input)), session)
        limit_ms = None if timeout_s is None else int(timeout_s * 1000)
        value = outcome(door, until_timeout(plan, limit_ms), f"the tool {name}")
        assert isinstance(value, ToolAnswer), value
        if kept:
            change(kept, next(calls))
        if value.is_error:
            raise ToolError(value.content)
        return handed_over(value, input, kept)

    return Tool(name, script.description, script.input_schema, call)


def handed_over(value: ToolAnswer, input: Json, kept: list[Json]) -> Any:
    """What a tool returns that shares memory with its agent; what it may change goes to `kept`."""
    match value.how:
        case "input_changed" if isinstance(input, dict):
            kept.append(input)
            change(kept, 0)
        case "changed_later":
            kept.append([{"type": "text", "text": str(value.content)}])
            return kept[-1]
        case "endless":
            return repeat(value.content)
    return value.content


def change(kept: list[Json], calls: int) -> None:
    """What a tool makes, at each further call, of the inputs and answers that it still holds."""
    for thing in kept:
        thing.clear()
        if isinstance(thing, dict):
            thing["changed"] = CHANGED.format(calls)
        else:
            thing.append({"type": "text", "text": CHANGED.format(calls)})


CHANGED = "(changed by the tool, {} calls later)"


def outcome(door: Dispatcher, plan: Plan, place: str) -> Value:
    """The value of a plan that needs no wire, with its other steps carried out.

    Raises RunStopped when the run is over, TimeoutError and ConnectionError when there is no
    answer, RuntimeError with the tool's own text when it raises.
    """
    answer: Value | None = None
    for step in plan:
        match step:
            case Answer(value):
                answer = value
            case Raise(error, text):
                raise _error(error, text or f"{place}: {error}")
            case Close():
                raise ConnectionResetError(f"{place}: the connection was closed")
            case Send(data, head):
                status = head.status if head else "no status"
                raise RuntimeError(f"{place} answered {status}: {data.decode(errors='replace')}")
            case _:
                door.carry_out(step)
    if answer is None:
        raise ConnectionError(f"{place} gave no answer")
    return answer


def _error(name: str, text: str) -> BaseException:
    return _ERRORS.get(name, RuntimeError)(text)


class ScriptedInterrupt(KeyboardInterrupt):
    """A tool that is scripted to raise KeyboardInterrupt; nobody has pressed Ctrl-C."""


class ScriptedBaseException(BaseException):
    """A tool that is scripted to raise what is no `Exception`."""


class OddError(Exception):
    """A tool's own class of error, of which not even the text can be had."""

    def __str__(self) -> str:
        """Raises, like the first mistake in a seldom used class."""
        raise RuntimeError("this error has no text")


_ERRORS: dict[str, type[BaseException]] = {
    "stop": RunStopped,
    "timeout": TimeoutError,
    "connect": ConnectionRefusedError,
    "custom": OddError,
    "base": ScriptedBaseException,
    "interrupt": ScriptedInterrupt,
    "exit": SystemExit,
}


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
