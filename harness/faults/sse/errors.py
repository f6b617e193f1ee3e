"""The stream says that it failed, or says what cannot be read; its status was 200."""

from __future__ import annotations

from collections.abc import Callable

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Close, Plan, Send
from harness.core.values.strict import Count
from harness.faults.sse.events import ended, find, frame, headed, is_end, opened, value

STAGE = "bytes"

SEAMS = ("model",)

CODES = {
    "error_event": ("S5", "S20"),
    "error_event_after_the_end": ("S5",),
    "error_event_not_json": ("S6",),
    "invalid_json": ("S7",),
    "invalid_utf8": ("S7",),
}

WIRES = {"error_event_not_json": ("anthropic",)}


def error_event(
    moment: Moment,
    plan: Plan,
    *,
    after: Count = 3,
    type: str = "overloaded_error",
    message: str = "Overloaded",
) -> Plan:
    """After `after` events comes an error event, and the stream ends; the status was 200."""
    return _in_place_of_rest(plan, after, _error(moment, type, message))


def error_event_after_the_end(
    moment: Moment, plan: Plan, *, type: str = "overloaded_error", message: str = "Overloaded"
) -> Plan:
    """The answer has come whole, and behind its terminal event comes an error event.

    The Anthropic SDK raises it, so nobody has heard the answer; the OpenAI SDK has stopped reading.
    """
    events = opened(plan)
    place = find(events, is_end)
    if place is None:
        return plan
    steps = (*events[: place + 1], _error(moment, type, message), *events[place + 1 :])
    return ended(steps) if moment.wire == "anthropic" else steps


def error_event_not_json(
    moment: Moment, plan: Plan, *, after: Count = 3, text: str = "upstream connect error"
) -> Plan:
    """After `after` events comes an error event whose data is plain text, and the stream ends."""
    return _in_place_of_rest(plan, after, frame(text, "error"))


def invalid_json(moment: Moment, plan: Plan, *, after: Count = 2) -> Plan:
    """After `after` events one comes whose data breaks off inside its JSON; then the end."""
    return _garbled(plan, after, lambda data: data[: data.rfind(b"}")] + b"\n\n")


def invalid_utf8(moment: Moment, plan: Plan, *, after: Count = 2) -> Plan:
    """After `after` events one comes with bytes that are no UTF-8; then the end."""
    return _garbled(plan, after, lambda data: data.replace(b'"', b'"\xff\xfe', 1))


def _error(moment: Moment, type: str, message: str) -> Send:
    """An error in the words of the wire: Chat has no events, and Responses' error is flat."""
    if moment.wire == "openai-chat":
        return frame({"error": {"message": message, "type": type, "param": None, "code": None}})
    if moment.wire == "openai-responses":
        flat = {"type": "error", "code": type, "message": message, "param": None}
        return frame(flat, "error")
    said: Json = {"type": "error", "error": {"type": type, "message": message}}
    return frame(said, "error")


def _in_place_of_rest(plan: Plan, after: int, error: Send) -> Plan:
    events = opened(plan)
    sends = [place for place, step in enumerate(events) if isinstance(step, Send)]
    if len(sends) <= after:
        return plan
    place = sends[after]
    return (*events[:place], headed(error, events[place]), Close())


def _garbled(plan: Plan, after: int, garble: Callable[[bytes], bytes]) -> Plan:
    events = opened(plan)
    sends = [place for place, step in enumerate(events) if value(step)]
    if len(sends) <= after:
        return plan
    place = sends[after]
    step = events[place]
    data = garble(step.data) if isinstance(step, Send) else b""
    return (*events[:place], headed(Send(data), step), Close())
