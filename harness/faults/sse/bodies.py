"""A body of the other sort than was asked for: plain JSON to a stream request, and the reverse."""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Close, Head, Plan, Send
from harness.faults.sse.events import DONE, event, frame, opened, value

STAGE = "bytes"

SEAMS = ("model",)

CODES = {"json_to_a_stream_request": ("S24",), "stream_to_a_plain_request": ("S24",)}

_JSON = {"content-type": "application/json"}
_STREAM = {"content-type": "text/event-stream; charset=utf-8"}


def json_to_a_stream_request(moment: Moment, plan: Plan) -> Plan:
    """A stream was asked for, and a plain JSON answer comes: the message that would have begun."""
    first = next((step for step in opened(plan) if isinstance(step, Send)), None)
    if first is None or first.head is None:
        return plan
    said = value(first)
    body = said.get("message") or said.get("response") or said
    head = Head(first.head.status, {**first.head.headers, **_JSON})
    return (Send(msgspec.json.encode(body), head), Close())


def stream_to_a_plain_request(moment: Moment, plan: Plan) -> Plan:
    """A plain answer was asked for, and it comes as the events of a stream."""
    first = next((step for step in plan if isinstance(step, Send)), None)
    if first is None or first.head is None or opened(plan) or first.head.status != 200:
        return plan
    body = value(Send(b"data: " + first.data))
    head = Head(200, {**first.head.headers, **_STREAM})
    return (Send(b"".join(part.data for part in _events(moment.wire, body)), head), Close())


def _events(wire: str, body: dict[str, Json]) -> tuple[Send, ...]:
    """The begin and the end of a stream that would say this."""
    if wire == "openai-chat":
        return (frame({**body, "object": "chat.completion.chunk", "choices": []}), frame(DONE))
    if wire == "openai-responses":
        return tuple(
            event({"type": f"response.{name}", "sequence_number": number, "response": body})
            for number, name in enumerate(("created", "completed"))
        )
    start = event({"type": "message_start", "message": body})
    return (start, event({"type": "message_stop"}))
