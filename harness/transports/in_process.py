"""The brief of a Python target in the same process: each member crosses a seam by a plain call.

In supervise the model is behind a URL, so that the SDK clients meet socket failures for real:
resets, short bodies, stalls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import PurePath
from typing import Any, get_args
from urllib.parse import quote

import msgspec

from harness.clock.turns import turn_of_task
from harness.core.values.brief import BriefClock, Tool
from harness.core.values.calls import (
    Approval,
    ApprovalRequest,
    Inbound,
    OutboundKind,
    OutboxRequest,
)
from harness.core.values.errors import nearest
from harness.core.values.machine_names import DUMMY_KEY
from harness.core.values.messages import Json, builtin, builtin_text
from harness.core.values.plans import Delivered, Plan, patience_ms, until_timeout
from harness.providers.anthropic.record import RECORD as ANTHROPIC
from harness.providers.openai_chat.record import RECORD as OPENAI_CHAT
from harness.providers.shared.record import Sdk
from harness.transports.dispatcher import Dispatcher, replied_to
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.mcp_tools import in_process_server
from harness.transports.python_calls import after_waits, outcome, scripted_tool
from harness.transports.sdk_clients import (
    BASE_URL,
    gemini_client,
    http_library,
    sdk_client,
    sdk_of_package,
    without_certificates,
)

_KINDS = get_args(OutboundKind)

_ANTHROPIC, _OPENAI = ANTHROPIC.sdk.package, OPENAI_CHAT.sdk.package
"""The SDKs that a brief has clients of, by their packages."""


def _no_store() -> None:
    """A brief without a store."""


class InProcessBrief:
    """`harness.core.values.brief.Brief` for a Python target, sync or async.

    `own_time` marks the time in which the harness imports an SDK or opens a file for the agent: it
    is not waiting of the agent's.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        session_dir: PurePath,
        *,
        options: Mapping[str, Json] | None = None,
        open_store: Callable[[], Any] = _no_store,
        own_time: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        scenario = dispatcher.transition.scenario
        self._dispatcher = dispatcher
        self.session_dir = session_dir
        self.clock: BriefClock = dispatcher.clock
        self.options: Mapping[str, Json] = dict(options or {})
        self.limits: Mapping[str, float] = msgspec.structs.asdict(scenario.limits)
        self.base_url, self.api_key = BASE_URL, DUMMY_KEY
        self.wire, self.seed = scenario.wire, scenario.seed
        self._open_store, self._own_time = open_store, own_time
        self.transport: Any = HttpxTransport(dispatcher)
        self.async_transport: Any = self.transport
        self._tools = [
            scripted_tool(dispatcher, name, script) for name, script in scenario.tools.items()
        ]

    @property
    def tools(self) -> list[Tool]:
        """The tools of the scenario."""
        self._dispatcher.transition.tools_taken = True
        return self._tools

    @cached_property
    def store(self) -> Any:
        """The session store behind the store seam; an agent that asks for it has that seam."""
        with self._own_time():
            return self._open_store()

    def _client(self, package: str, asynchronous: bool, settings: dict[str, Any]) -> Any:
        with self._own_time():
            return sdk_client(package, self.transport, asynchronous=asynchronous, **settings)

    def anthropic(self, **settings: Any) -> Any:
        """An `anthropic.Anthropic` client whose every request crosses the model seam."""
        return self._client(_ANTHROPIC, False, settings)

    def async_anthropic(self, **settings: Any) -> Any:
        """An `anthropic.AsyncAnthropic` client, likewise."""
        return self._client(_ANTHROPIC, True, settings)

    def openai(self, **settings: Any) -> Any:
        """An `openai.OpenAI` client whose every request crosses the model seam."""
        return self._client(_OPENAI, False, settings)

    def async_openai(self, **settings: Any) -> Any:
        """An `openai.AsyncOpenAI` client, likewise."""
        return self._client(_OPENAI, True, settings)

    def gemini(self, **settings: Any) -> Any:
        """A `google.genai.Client`, likewise; its `aio` is the async one."""
        ways = [way for way in (self.transport, self.async_transport) if way is not None]
        with self._own_time():
            return gemini_client(**{"base_url": self.base_url, "transports": ways, **settings})

    def child(self, session: str, parent: str = "main") -> Child:
        """The clients of a sub-agent: each request names its session, and its parent.

        Raises ValueError for the session of the parent, or none.
        """
        session = builtin_text(session, "brief.child: the session")
        parent = builtin_text(parent, "brief.child: the parent")
        if not session or session == parent:
            raise ValueError("brief.child: the child needs another session than its parent")
        return Child(self, session, parent)

    def mcp_server(self) -> Any:
        """The tools as an MCP server of this process, for `mcp.Client(brief.mcp_server())`."""
        self._dispatcher.transition.tools_taken = True
        with self._own_time():
            return in_process_server(self._dispatcher)

    def inbox(self, *, cancels: bool = False) -> Iterator[Inbound]:
        """The inbound messages, until the scenario has no more; asking ends the turn before.

        With `cancels` also the cancels and disconnects, whose `kind` says so.
        """
        return self._messages(cancels, reads=False)

    def on_message(
        self, callback: Callable[[Inbound], object], *, cancels: bool = False
    ) -> Future[None]:
        """Call `callback` with each message as it comes, in a new thread.

        The next message comes once it has returned. The future has a result at the end of the
        inbox, or the exception of the callback.
        """
        ends: Future[None] = Future()

        def read() -> None:
            try:
                for inbound in self._messages(cancels, reads=True):
                    callback(inbound)
            except BaseException as error:
                ends.set_exception(error)
            else:
                ends.set_result(None)

        threading.Thread(target=read, daemon=True).start()
        return ends

    def _messages(self, cancels: bool, reads: bool) -> Iterator[Inbound]:
        """The messages; one that `reads` does so while the agent works, so it ends no turn."""
        while (inbound := self._next_inbound(cancels, reads)) is not None:
            if cancels or inbound.kind == "message":
                yield inbound

    def _next_inbound(self, cancels: bool, reads: bool = False) -> Inbound | None:
        """What comes next; without `cancels` a cancel may come, which is to be skipped."""
        plan = self._dispatcher.next_inbound(cancels, reads)
        value = outcome(self._dispatcher, plan, "the inbox")
        return value.inbound if isinstance(value, Delivered) else None

    def ask(
        self,
        tool: str,
        input: Json,
        *,
        id: str = "",
        session: str = "",
        timeout_s: float | None = None,
    ) -> Approval:
        """Ask the user whether a call may run, and wait for the answer on the run's clock.

        `id` is the model's id of the call. After `timeout_s` seconds it raises TimeoutError; the
        same question asked again gets the user's answer, once it has come.
        """
        asked = self._question(tool, input, id, session)
        return self._approval(self._answered(asked, timeout_s))

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
        request, said = self._question(tool, input, id, session)
        in_turn = await turn_of_task(self._dispatcher.clock, "approval", said, request.name)
        plan = self._answered((request, said), timeout_s, in_turn=in_turn)
        return self._approval(await after_waits(self._dispatcher, plan, request.name))

    def _question(
        self, tool: str, input: Json, id: str, session: str
    ) -> tuple[ApprovalRequest, str]:
        given = {"tool": tool, "id": id, "session": session}
        said = {name: builtin_text(v, f"brief.ask: the {name}") for name, v in given.items()}
        return ApprovalRequest(said["id"], said["tool"], builtin(input)), said["session"]

    def _answered(
        self, asked: tuple[ApprovalRequest, str], timeout_s: float | None, *, in_turn: bool = False
    ) -> Plan:
        plan = self._dispatcher.approval(*asked, in_turn=in_turn)
        return until_timeout(plan, patience_ms(timeout_s))

    def _approval(self, plan: Plan) -> Approval:
        value = outcome(self._dispatcher, plan, "the approval")
        assert isinstance(value, Approval), value
        return value

    def cancelled(self, session: str = "main") -> bool:
        """Whether the user has cancelled the turn that the session works on."""
        return self._dispatcher.cancelled(builtin_text(session, "brief.cancelled: the session"))

    def send(
        self,
        text: str,
        kind: OutboundKind = "final",
        session: str | None = None,
        in_reply_to: str | Sequence[str] | None = None,
        status: str | None = None,
    ) -> None:
        """Say something to the user, in reply to one message or to several.

        Raises what a fault makes of the delivery, TypeError for a text that is not a string,
        ValueError for a kind that does not exist.
        """
        if text is None:
            raise TypeError("brief.send: the text is a str, not NoneType")
        given = {"text": text, "status": status, "session": session}
        said = {
            name: builtin_text(value, f"brief.send: the {name}") for name, value in given.items()
        }
        if kind not in _KINDS:
            raise ValueError(f"brief.send: no kind {kind!r}; {nearest(kind, _KINDS)}")
        several = in_reply_to if isinstance(in_reply_to, list | tuple) else (in_reply_to,)
        named = [builtin_text(name, "brief.send: the in_reply_to") for name in several]
        request = OutboxRequest(
            builtin(kind), said["text"], status=said["status"], **replied_to(named)
        )
        plan = self._dispatcher.outbox(request, said["session"])
        outcome(self._dispatcher, plan, "the outbox")


class LoopbackBrief(InProcessBrief):
    """`InProcessBrief` with the model at `model_url`, on a loopback server."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        session_dir: PurePath,
        *,
        model_url: str,
        options: Mapping[str, Json] | None = None,
        open_store: Callable[[], Any] = _no_store,
    ) -> None:
        super().__init__(dispatcher, session_dir, options=options, open_store=open_store)
        library = http_library()
        self.base_url = model_url
        self.transport = library.HTTPTransport(verify=without_certificates())
        self.async_transport = library.AsyncHTTPTransport(verify=without_certificates())

    def _client(self, package: str, asynchronous: bool, settings: dict[str, Any]) -> Any:
        where = {"base_url": self.base_url + sdk_of_package(package).base_path}
        return sdk_client(package, None, asynchronous=asynchronous, **where | settings)


class Child:
    """A sub-agent of a brief: the URL of each request names its session, a header its parent.

    `base_url` and `headers` are for a client that is not an SDK's. The headers are those that any
    program sends by hand, so a child of a brief is seen as any other.
    """

    def __init__(self, brief: InProcessBrief, session: str, parent: str) -> None:
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
