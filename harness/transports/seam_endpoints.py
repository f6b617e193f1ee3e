"""The seams over HTTP: which path is which seam, and a plan's values as HTTP answers.

Tools, inbox and outbox speak the contract's JSON. Their plans become HTTP plans here, so that HTTP
faults apply to them too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar
from urllib.parse import parse_qs, unquote

import msgspec

from harness.core.values.calls import (
    Approval,
    ApprovalRequest,
    OutboundKind,
    OutboxRequest,
    ToolRequest,
)
from harness.core.values.errors import InputError
from harness.core.values.messages import Json, is_malformed
from harness.core.values.plans import (
    Accepted,
    Answer,
    Delivered,
    Head,
    Plan,
    Raise,
    Send,
    Step,
    ToolAnswer,
    Value,
    Wait,
    patience_ms,
)
from harness.transports.access_check import told
from harness.transports.dispatcher import (
    Dispatcher,
    at_once,
    json_answer,
    replied_to,
    split_session,
)
from harness.transports.http_connection import Request, whole_answer
from harness.transports.http_exchange import CONNECTION_ERRORS
from harness.transports.mcp_tools import McpEndpoint

INBOX, OUTBOX, TOOLS = "/harness/inbox", "/harness/outbox", "/harness/tools"
APPROVALS = "/harness/approvals"
MCP = "/harness/mcp"
INBOX_WAIT_MS = 20_000
"""How long the inbox keeps a client waiting before it says 202: ask again."""
CANCEL_LOOK_MS = 50
"""How often it is looked for a cancel that a client waits for."""

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


class Endpoints:
    """All that a loopback server answers for one run, as plans that only hold HTTP."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self._inbox = Inbox(dispatcher)

    def plan(self, request: Request, pause: Callable[[float], None]) -> Plan:
        """The plan for a request; `pause` waits a number of seconds on its connection."""
        if "/harness/" not in request.path:
            timeout_ms = _timeout_ms(request.headers.get("x-stainless-read-timeout", ""))
            return self.dispatcher.model(
                request.method,
                request.path,
                request.headers,
                request.body,
                timeout_ms,
                request.query,
            )
        session, path = split_session(request.path)
        match request.method, path:
            case "GET", "/harness/inbox":
                return self._inbox.plan(pause, cancels=_asked(request, "cancels") == "true")
            case "GET", "/harness/inbox/cancelled":
                named = _asked(request, "session") or session or "main"
                if _asked(request, "wait") == "true":
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
            case "POST", _ if path.startswith(f"{TOOLS}/"):
                name = unquote(path[len(TOOLS) + 1 :])
                return self._decoded(
                    request, ToolBody, lambda body: self._tool(name, body, session)
                )
        return error_answer(404, f"no {request.method} {path[:200]} here: {_KNOWN}")

    def _told_of_cancel(self, session: str, pause: Callable[[float], None]) -> Plan:
        """Answer once the open turn is cancelled, or that none was when the client has waited."""
        with self.dispatcher.waiting_for_news():
            for _ in range(INBOX_WAIT_MS // CANCEL_LOOK_MS):
                if self.dispatcher.cancelled_in_turn(session):
                    return json_answer(200, {"cancelled": True})
                pause(CANCEL_LOOK_MS / 1000)
        return json_answer(200, {"cancelled": False})

    def _mcp(self, request: Request, session: str) -> Plan:
        """Serve the tools over MCP; the package `mcp` is loaded at the first request."""
        try:
            plan = McpEndpoint(self.dispatcher).plan(request, session)
        except InputError as error:
            return error_answer(501, str(error))
        match plan:
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
        asked = ApprovalRequest(body.id, body.tool, body.input)
        return as_http(self.dispatcher.approval(asked, body.session or session))

    def _tools(self) -> list[dict[str, Json]]:
        self.dispatcher.transition.tools_taken = True
        return [
            {"name": name, "description": t.description, "input_schema": t.input_schema}
            | ({"needs_approval": True} if t.approval else {})
            for name, t in self.dispatcher.transition.scenario.tools.items()
        ]


class Inbox:
    """The inbox as a long poll: an answer that is not due yet is kept for the next question."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._lock = threading.Lock()
        self._kept: tuple[int, Plan] | None = None

    def plan(self, pause: Callable[[float], None], cancels: bool = False) -> Plan:
        """The next message, or 202 when the client has waited long enough.

        With `cancels` the next cancel or disconnect too; else it skips those between turns.
        """
        with self._lock:
            while True:
                now_ms = self._dispatcher.clock.now_ms()
                due_ms, plan = self._kept = self._kept or self._ask(now_ms, cancels)
                left_ms = max(0, due_ms - now_ms)
                if left_ms:
                    pause(min(left_ms, INBOX_WAIT_MS) / 1000)
                if left_ms > INBOX_WAIT_MS:
                    return (Send(b"", Head(202, {})),)
                self._kept = None
                if cancels or not _is_cancel(plan):
                    return as_http(plan)

    def _ask(self, now_ms: int, cancels: bool) -> tuple[int, Plan]:
        """Return when the next answer is due, and its plan from that moment on."""
        plan = self._dispatcher.next_inbound(cancels)
        waits = next((n for n, s in enumerate(plan) if not isinstance(s, Wait)), len(plan))
        wait_ms = sum(step.ms for step in plan[:waits] if isinstance(step, Wait))
        return now_ms + wait_ms, plan[waits:]


def _is_cancel(plan: Plan) -> bool:
    """Whether a plan delivers a cancel or a disconnect."""
    values = (step.value for step in plan if isinstance(step, Answer))
    inbounds = (value.inbound for value in values if isinstance(value, Delivered))
    return any(inbound.kind != "message" for inbound in inbounds if inbound)


def _asked(request: Request, name: str) -> str:
    """A parameter of the query, "" without one."""
    return parse_qs(request.query).get(name, [""])[-1]


def as_http(plan: Plan) -> Plan:
    """The plan with each value, and each error that a tool raises, as an HTTP answer."""
    steps: list[Step] = []
    for step in plan:
        match step:
            case Answer(value):
                steps += _answer(value)
            case Raise(error, text) if error not in CONNECTION_ERRORS:
                steps += error_answer(500, text or error)
            case _:
                steps.append(step)
    return tuple(steps)


def _answer(value: Value) -> Plan:
    match value:
        case ToolAnswer(content, is_error):
            if isinstance(content, bytes):  # as a program reads the output of another one
                content = content.decode("utf-8", "surrogateescape")
            return json_answer(200, {"content": content, "is_error": is_error})
        case Approval():
            return json_answer(200, msgspec.structs.asdict(value))
        case Delivered(None) | Accepted():
            return (Send(b"", Head(204, {})),)
        case Delivered(inbound):
            assert inbound is not None
            names = ("id", "session", "kind", "text", "at_ms")
            return json_answer(200, {name: getattr(inbound, name) for name in names})
    raise TypeError(f"no HTTP answer for {value!r}")


def error_answer(status: int, text: str, **headers: str) -> Plan:
    """An answer of the server itself: what is wrong, in a sentence."""
    return json_answer(status, {"error": f"loop-harness: {text}"}, **headers)


def error_bytes(status: int, text: str, **headers: str) -> bytes:
    """`error_answer` as bytes, after which the connection ends."""
    known = at_once(error_answer(status, text, **headers))
    assert known is not None
    return whole_answer(*known, reusable=False)


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
    f"GET {INBOX}, GET {INBOX}/cancelled, POST {OUTBOX}, POST {APPROVALS}, GET {TOOLS}, "
    f"POST {TOOLS}/NAME, POST {MCP}"
)
