"""Wrong ends and numbers in a stream of the Responses API.

The SDK's helper reports every other end as a missing `response.completed`.
"""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Close, Plan, Send, Step
from harness.core.values.strict import FromOne
from harness.faults.shared.stream_events import (
    changed,
    event,
    frame,
    is_end,
    of_kind,
    opened,
    spliced,
    value,
)

STAGE = "bytes"
SEAMS = ("model",)
CODES = {
    "response_failed": ("S20",),
    "response_incomplete": ("S20",),
    "nested_error_event": ("S20",),
    "sequence_gap": ("S21",),
    "sequence_repeated": ("S21",),
}
WIRES = dict.fromkeys(CODES, ("openai-responses",))

Reason = Literal["max_output_tokens", "content_filter", "max_messages", "steered"]


def response_failed(
    moment: Moment,
    plan: Plan,
    *,
    code: str = "server_error",
    message: str = "The server had an error while processing your request.",
) -> Plan:
    """The stream ends with `response.failed` and an error in the response."""
    error = {"code": code, "message": message}
    return _ends_as(plan, "failed", {"error": error})


def response_incomplete(
    moment: Moment, plan: Plan, *, reason: Reason = "max_output_tokens"
) -> Plan:
    """The stream ends with `response.incomplete`, which gives a reason."""
    return _ends_as(plan, "incomplete", {"incomplete_details": {"reason": reason}})


def nested_error_event(
    moment: Moment, plan: Plan, *, code: str = "server_error", message: str = "Overloaded"
) -> Plan:
    """In place of the end comes an error event whose fields stand under `error`."""
    error = {"type": code, "code": code, "message": message, "param": None}
    said = frame({"type": "error", "error": error}, "error")
    return spliced(plan, is_end, lambda step: (said,), broken=True)


def sequence_gap(moment: Moment, plan: Plan, *, missing: FromOne = 1) -> Plan:
    """Between any two events the `sequence_number` leaves `missing` numbers out."""
    events = opened(plan)
    bent = tuple(_numbered(step, missing + 1) for step in events)
    return plan if bent == events else bent


def sequence_repeated(moment: Moment, plan: Plan) -> Plan:
    """A piece of text comes twice with the same `sequence_number`: a client doubles it."""

    def doubled(step: Step) -> tuple[Step, ...]:
        return (step, Send(step.data)) if isinstance(step, Send) else (step,)

    return spliced(plan, of_kind("response.output_text.delta"), doubled)


def _ends_as(plan: Plan, status: str, more: dict[str, Json]) -> Plan:
    return spliced(plan, is_end, lambda step: (_end(step, status, more), Close()))


def _end(step: Step, status: str, more: dict[str, Json]) -> Send:
    said = value(step)
    response = {**said.get("response", {}), "status": status, **more}
    return event({**said, "type": f"response.{status}", "response": response})


def _numbered(step: Step, stride: int) -> Step:
    number = value(step).get("sequence_number")
    return changed(step, sequence_number=number * stride) if isinstance(number, int) else step
