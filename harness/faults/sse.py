"""Stream faults: events of an answer's stream are missing, cut or replaced.

One send is one event, so that an event can be named by its place. What is cut ends in order: the
client sees a clean end of the body, which the SDKs take for success.
"""

from __future__ import annotations

import msgspec

from harness.core.plans import Close, Plan, Send
from harness.core.ports import Moment
from harness.core.scenario import Count

STAGE = "bytes"

SEAMS = ("model",)

CODES = {
    "no_message_stop": ("S1",),
    "no_message_delta": ("S2",),
    "end_inside_tool_input": ("S3",),
    "error_event": ("S5",),
}


def no_message_stop(moment: Moment, plan: Plan) -> Plan:
    """The stream ends without its terminal event."""
    return _cut_before(plan, b"event: message_stop")


def no_message_delta(moment: Moment, plan: Plan) -> Plan:
    """The stream ends before it says why it stops."""
    return _cut_before(plan, b"event: message_delta")


def end_inside_tool_input(moment: Moment, plan: Plan) -> Plan:
    """The stream ends after the first piece of a tool's input."""
    for place, step in enumerate(plan):
        if isinstance(step, Send) and b"input_json_delta" in step.data:
            return (*plan[: place + 1], Close())
    return plan


def error_event(
    moment: Moment,
    plan: Plan,
    *,
    after: Count = 3,
    type: str = "overloaded_error",
    message: str = "Overloaded",
) -> Plan:
    """After `after` events comes an error event, and the stream ends; the status was 200."""
    sends = [i for i, step in enumerate(plan) if isinstance(step, Send)]
    if len(sends) <= after:
        return plan
    body = {"type": "error", "error": {"type": type, "message": message}}
    event = b"event: error\ndata: " + msgspec.json.encode(body) + b"\n\n"
    first = plan[sends[0]]
    head = first.head if isinstance(first, Send) and not after else None
    return (*plan[: sends[after]], Send(event, head), Close())


def _cut_before(plan: Plan, mark: bytes) -> Plan:
    for place, step in enumerate(plan):
        if isinstance(step, Send) and step.data.startswith(mark):
            return (*plan[:place], Close())
    return plan
