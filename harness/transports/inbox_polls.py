"""The inbox over HTTP: a long poll for the next message, or for it as a server-sent event."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qs, quote

import msgspec

from harness.core.values.calls import Inbound
from harness.core.values.plans import Answer, Delivered, Head, Plan, Send, Wait, due_message
from harness.transports.dispatcher import Dispatcher
from harness.transports.http_answers import as_http
from harness.transports.http_connection import Request
from harness.transports.message_channel import told_message

INBOX_WAIT_MS = 20_000
"""How long the inbox keeps a client waiting before it says 202: ask again."""


def asked(request: Request, name: str) -> str:
    """A parameter of the query, "" without one."""
    return parse_qs(request.query).get(name, [""])[-1]


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
            asked(request, "cancels") == "true",
            asked(request, "wait") != "false",
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
