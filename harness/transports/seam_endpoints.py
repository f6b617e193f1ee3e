"""The seams over HTTP: which path is which seam.

Tools, inbox and outbox speak the contract's JSON. Their plans become HTTP plans, so that HTTP
faults apply to them too.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache, partial
from typing import IO, TypeVar
from urllib.parse import unquote

import msgspec

from harness.core.values.calls import ApprovalRequest, OutboundKind, OutboxRequest, ToolRequest
from harness.core.values.errors import InputError
from harness.core.values.messages import Json, is_malformed
from harness.core.values.plans import Head, Plan, Send, patience_ms
from harness.transports.access_check import told
from harness.transports.dispatcher import LOOK_S, Dispatcher, json_answer, replied_to
from harness.transports.http_answers import as_http, error_answer
from harness.transports.http_connection import Request
from harness.transports.inbox_polls import INBOX_WAIT_MS, Inbox, Question, asked
from harness.transports.mcp_tools import McpEndpoint
from harness.transports.message_channel import Lines, MessageChannel, Offer, webhook
from harness.transports.session_paths import split_session

INBOX, OUTBOX, TOOLS = "/harness/inbox", "/harness/outbox", "/harness/tools"
APPROVALS = "/harness/approvals"
MCP = "/harness/mcp"

LIST_WAIT_S = 20.0
"""How long a client waits for a session that lists no tools. Qwen Code takes 16 s to its first
request on a busy machine."""

_T = TypeVar("_T")
_WHY_MOST_CHARS = 500


class OutboxBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent posts to the outbox."""

    text: str
    kind: OutboundKind = "final"
    session: str | None = None
    in_reply_to: str | list[str] | None = None
    status: str | None = None


class ToolBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent posts to a tool."""

    id: str = ""
    input: Json = msgspec.field(default_factory=dict)


class ApprovalBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent posts to ask whether a call may run."""

    tool: str
    id: str = ""
    input: Json = msgspec.field(default_factory=dict)
    session: str | None = None
    plain: bool = False


class WebhookBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent posts to have its messages posted to it."""

    url: str
    cancels: bool = False


class AcceptedBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent posts to acknowledge a message that it has read as a line."""

    id: str


class Endpoints:
    """All that a loopback server answers for one run, as plans that only hold HTTP."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self._inbox = Inbox(dispatcher)
        self._channel: MessageChannel | None = None
        self._lines: Lines | None = None
        self._listed = set[str]()

    def open_lines(self, into: IO[bytes]) -> None:
        """Offer the messages from now on as lines of a program's input."""
        self._lines = Lines(into)
        self._open(self._lines)

    def close(self) -> None:
        """Offer no message any more, to this life of the target."""
        if self._channel is not None:
            self._channel.close()
        self._channel = self._lines = None
        self._listed.clear()

    def _open(self, offer: Offer, cancels: bool = False) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = MessageChannel(self.dispatcher, offer, cancels=cancels)

    def plan(self, request: Request, pause: Callable[[float], None]) -> Plan:
        """The plan for a request; `pause` waits a number of seconds on its connection."""
        if "/harness/" not in request.path:
            timeout_ms = _timeout_ms(request.headers.get("x-stainless-read-timeout", ""))
            asks = (request.method, request.path, request.headers, request.body)
            return self.dispatcher.model(*asks, timeout_ms, request.query)
        session, path = split_session(request.path)
        match request.method, path:
            case "GET", "/harness/inbox":
                return self._inbox.plan(pause, Question.of(request))
            case "POST", "/harness/inbox/webhook":
                return self._decoded(request, WebhookBody, self._webhook)
            case "POST", "/harness/inbox/accepted":
                return self._decoded(request, AcceptedBody, self._accepted)
            case "GET", "/harness/inbox/cancelled":
                named = asked(request, "session") or session or "main"
                if asked(request, "wait") == "true":
                    return self._told_of_cancel(named, pause)
                return json_answer(200, {"cancelled": self.dispatcher.cancelled(named)})
            case _, "/harness/mcp":
                return self._mcp(request, session)
            case "POST", "/harness/outbox":
                return self._decoded(request, OutboxBody, lambda body: self._outbox(body, session))
            case "POST", "/harness/approvals":
                return self._decoded(request, ApprovalBody, lambda body: self._ask(body, session))
            case "GET", "/harness/tools":
                return json_answer(200, self._tools())
            case "GET", "/harness/mcp/listed":
                return self._told_of_list(session or "main", pause)
            case "POST", "/harness/mcp/listed":
                self._take_list(session)  # the server on standard streams says so
                return json_answer(204, None)
            case "POST", _ if path.startswith(f"{TOOLS}/"):
                name = unquote(path[len(TOOLS) + 1 :])
                return self._decoded(request, ToolBody, lambda b: self._tool(name, b, session))
        return error_answer(404, f"no {request.method} {path[:200]} here: {_KNOWN}")

    def _told_of_cancel(self, session: str, pause: Callable[[float], None]) -> Plan:
        """Answer once the open turn is cancelled, or that none was when the client has waited."""
        cancelled = partial(self.dispatcher.cancelled_in_turn, session)
        return json_answer(200, {"cancelled": self._came(cancelled, INBOX_WAIT_MS / 1000, pause)})

    def _take_list(self, session: str) -> None:
        self._listed.add(session or "main")

    def _told_of_list(self, session: str, pause: Callable[[float], None]) -> Plan:
        """Answer once the session has listed the tools over MCP, or that it has not yet.

        An agent answers that a session is open before it has asked its MCP servers. A message that
        comes earlier meets an agent without tools.
        """
        listed = self._came(lambda: session in self._listed, LIST_WAIT_S, pause)
        return json_answer(200, {"listed": listed})

    def _came(
        self, news: Callable[[], bool], wait_s: float, pause: Callable[[float], None]
    ) -> bool:
        """Look for news until it is there, or the client has waited."""
        with self.dispatcher.waiting_for_news():
            for _ in range(int(wait_s / LOOK_S)):
                if news():
                    return True
                pause(LOOK_S)
        return False

    def _mcp(self, request: Request, session: str) -> Plan:
        """Serve the tools over MCP; the package `mcp` is loaded at the first request."""
        try:
            plan = McpEndpoint(self.dispatcher, self._take_list).plan(request, session)
        except InputError as error:
            return error_answer(501, str(error))
        match plan:
            # The package refuses a malformed message by itself; without a record, the run would
            # end with no word of why the tools were never called.
            case (Send(text, Head(400)),):
                self._record(400, text.decode(errors="replace"), request)
        return plan

    def _decoded(self, request: Request, type_: type[_T], answer: Callable[[_T], Plan]) -> Plan:
        """Answer a JSON body of that type, or a 400 that locates its error."""
        try:
            body = _read(request.body, type_)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            why = f"the body of {request.method} {request.path}: {error}"
            self._record(400, why, request)
            return error_answer(400, why[:_WHY_MOST_CHARS])
        return answer(body)

    def _record(self, status: int, text: str, request: Request) -> None:
        named = f"{request.method} {told(request.path)}"
        self.dispatcher.refused(status, text[:_WHY_MOST_CHARS], named)

    def _outbox(self, body: OutboxBody, session: str) -> Plan:
        several = (
            body.in_reply_to if isinstance(body.in_reply_to, list) else [body.in_reply_to or ""]
        )
        named = replied_to(several)
        said = OutboxRequest(body.kind, body.text, status=body.status or "", **named)
        return as_http(self.dispatcher.outbox(said, body.session or session))

    def _tool(self, name: str, body: ToolBody, session: str) -> Plan:
        return as_http(self.dispatcher.tool(ToolRequest(body.id, name, body.input), session))

    def _ask(self, body: ApprovalBody, session: str) -> Plan:
        asked = ApprovalRequest(body.id, body.tool, body.input, plain=body.plain)
        return as_http(self.dispatcher.approval(asked, body.session or session))

    def _webhook(self, body: WebhookBody) -> Plan:
        try:
            self._open(webhook(body.url), body.cancels)
        except InputError as error:
            return error_answer(400, str(error))
        return json_answer(204, None)

    def _accepted(self, body: AcceptedBody) -> Plan:
        if self._lines is None:
            return error_answer(
                404, "no message is offered as a line: the target has no `?inbox=lines`"
            )
        self._lines.accept(body.id)
        return json_answer(204, None)

    def _tools(self) -> list[dict[str, Json]]:
        self.dispatcher.transition.tools_taken = True
        return [
            {"name": name, "description": t.description, "input_schema": t.input_schema}
            | ({"needs_approval": True} if t.approval else {})
            for name, t in self.dispatcher.transition.scenario.tools.items()
        ]


def _read(body: bytes, type_: type[_T]) -> _T:
    """A JSON body. An agent may hand on half a character, escaped, as the model has said it."""
    try:
        return msgspec.json.decode(body, type=type_)
    except msgspec.DecodeError:
        if not is_malformed(body):
            raise
        return msgspec.convert(json.loads(body), type=type_)


@lru_cache(maxsize=64)
def _timeout_ms(seconds: str) -> int | None:
    """Return the client's read time-out: the SDKs state it in a header."""
    try:
        return patience_ms(float(seconds))
    except ValueError:
        return None


_KNOWN = (
    f"GET {INBOX}, GET {INBOX}/cancelled, POST {INBOX}/webhook, POST {INBOX}/accepted, "
    f"POST {OUTBOX}, POST {APPROVALS}, GET {TOOLS}, POST {TOOLS}/NAME, POST {MCP}"
)
