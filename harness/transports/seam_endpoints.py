"""The seams over HTTP: which path is which seam, and a plan's values as HTTP answers.

Tools, inbox and outbox speak the contract's JSON. Their plans become HTTP plans here, so that HTTP
faults apply to them too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from typing import IO, TypeVar
from urllib.parse import parse_qs, quote, unquote

import msgspec

from harness.core.values.calls import (
    Approval,
    ApprovalRequest,
    Inbound,
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
from harness.transports.message_doors import (
    Lines,
    MessageDoor,
    Offer,
    due_message,
    told_message,
    webhook,
)

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
        self._door: MessageDoor | None = None
        self._lines: Lines | None = None

    def open_lines(self, into: IO[bytes]) -> None:
        """Offer the messages from now on as lines of a program's input."""
        self._lines = Lines(into)
        self._open(self._lines)

    def close(self) -> None:
        """Offer no message any more, to this life of the target."""
        if self._door is not None:
            self._door.close()
        self._door = self._lines = None

    def _open(self, offer: Offer, cancels: bool = False) -> None:
        if self._door is not None:
            self._door.close()
        self._door = MessageDoor(self.dispatcher, offer, cancels=cancels)

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
                return self._inbox.plan(pause, Question.of(request))
            case "POST", "/harness/inbox/webhook":
                return self._decoded(request, WebhookBody, self._webhook)
            case "POST", "/harness/inbox/accepted":
                return self._decoded(request, AcceptedBody, self._accepted)
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


class Question(msgspec.Struct, frozen=True):
    """How a client asks for its next message.

    `waits`: it is kept until there is one. `events`: it is told as an event, and `accepted` is the
    id of the last event that it has.
    """

    cancels: bool = False
    waits: bool = True
    events: bool = False
    accepted: str = ""

    @classmethod
    def of(cls, request: Request) -> Question:
        """The question of a request."""
        return cls(
            _asked(request, "cancels") == "true",
            _asked(request, "wait") != "false",
            "text/event-stream" in request.headers.get("accept", ""),
            request.headers.get("last-event-id", ""),
        )


class Inbox:
    """The inbox as a long poll: an answer that is not due yet is kept for the next question."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._lock = threading.Lock()
        self._kept: tuple[int, Plan] | None = None

    def plan(self, pause: Callable[[float], None], question: Question) -> Plan:
        """The next message, or 202 when the client has waited long enough.

        With `cancels` the next cancel or disconnect too; else it skips those between turns.
        """
        with self._lock:
            while True:
                if question.events or self._dispatcher.transition.pushes:
                    plan = self._pushed(pause, question)
                else:
                    plan = self._pulled(pause, question)
                if plan is None:
                    return (Send(b"", Head(202, {})),)
                inbound = due_message(plan)
                if question.cancels or inbound is None or inbound.kind == "message":
                    return as_event(plan) if question.events else as_http(plan)

    def _pulled(self, pause: Callable[[float], None], question: Question) -> Plan | None:
        now_ms = self._dispatcher.clock.now_ms()
        due_ms, plan = self._kept = self._kept or self._ask(now_ms, question.cancels)
        left_ms = max(0, due_ms - now_ms)
        if left_ms:
            pause(min(left_ms, INBOX_WAIT_MS if question.waits else 0) / 1000)
        if left_ms > (INBOX_WAIT_MS if question.waits else 0):
            return None
        self._kept = None
        return plan

    def _pushed(self, pause: Callable[[float], None], question: Question) -> Plan | None:
        """The plan for a client that reads while it works, or that is told events."""
        most_s = INBOX_WAIT_MS / 1000 if question.waits else 0
        news = partial(self._dispatcher.news, question.cancels, pause, most_s=most_s, answers=True)
        offered = self._dispatcher.unconfirmed
        if question.events and offered is not None and event_id(offered) != question.accepted:
            return news(refused="no acknowledgement")
        return news()

    def _ask(self, now_ms: int, cancels: bool) -> tuple[int, Plan]:
        """Return when the next answer is due, and its plan from that moment on."""
        plan = self._dispatcher.next_inbound(cancels)
        waits = next((n for n, s in enumerate(plan) if not isinstance(s, Wait)), len(plan))
        wait_ms = sum(step.ms for step in plan[:waits] if isinstance(step, Wait))
        return now_ms + wait_ms, plan[waits:]


def _asked(request: Request, name: str) -> str:
    """A parameter of the query, "" without one."""
    return parse_qs(request.query).get(name, [""])[-1]


def event_id(inbound: Inbound) -> str:
    """The id of the event that tells a message. An id alone may name one of each session."""
    return f"{quote(inbound.session, safe='')}/{quote(inbound.id, safe='')}"


def as_event(plan: Plan) -> Plan:
    """The plan with its message as an event, after which the stream ends.

    The client connects again at once, and names the event that it has: so it is known to have it.
    """
    return tuple(
        Send(_event(step.value.inbound), _EVENT_HEAD)
        if isinstance(step, Answer) and isinstance(step.value, Delivered) and step.value.inbound
        else each
        for step in plan
        for each in as_http((step,))
    )


def _event(inbound: Inbound) -> bytes:
    data = msgspec.json.encode(told_message(inbound)).decode()
    return f"retry: 1\nid: {event_id(inbound)}\nevent: message\ndata: {data}\n\n".encode()


_EVENT_HEAD = Head(200, {"content-type": "text/event-stream", "cache-control": "no-store"})


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
            return json_answer(200, told_message(inbound))
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
    f"GET {INBOX}, GET {INBOX}/cancelled, POST {INBOX}/webhook, POST {INBOX}/accepted, "
    f"POST {OUTBOX}, POST {APPROVALS}, GET {TOOLS}, POST {TOOLS}/NAME, POST {MCP}"
)
