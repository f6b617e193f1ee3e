"""The stream ends too early, with an error, or with what cannot be read; its status was 200.

A stream that ends too early ends in order: a client that does not look for the end sees a success.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from harness.core.transition.ports import Moment
from harness.core.values.plans import ApiError, Close, Plan, Send, Step
from harness.core.values.strict import Count
from harness.faults.shared import stream_events as stream
from harness.faults.shared.error_answers import own_error

STAGE = "bytes"
SEAMS = ("model",)
AFTER_END = ("error_event_after_the_end",)
WIRES = {
    "no_message_delta": ("anthropic",),
    "no_finish_reason": ("openai-chat",),
    "error_event_not_json": ("anthropic",),
}


def no_message_stop(moment: Moment, plan: Plan) -> Plan:
    """The stream ends without its terminal event: message_stop, `[DONE]`, response.completed.

    A client of Chat is not shown `[DONE]`, so there the answer counts as whole.
    """
    return stream.cut(plan, stream.is_end)


def no_message_delta(moment: Moment, plan: Plan) -> Plan:
    """The stream ends before it says why it stops."""
    return stream.cut(plan, lambda step: stream.kind(step) == "message_delta")


def no_finish_reason(moment: Moment, plan: Plan) -> Plan:
    """No chunk says why the answer stops; all others come, `[DONE]` too."""
    return stream.spliced(plan, stream.finishes, lambda step: (), broken=True)


def end_inside_tool_input(moment: Moment, plan: Plan) -> Plan:
    """The stream ends inside the JSON of a tool's input, in the middle one of its pieces."""
    events = stream.opened(plan)
    places = [place for place, step in enumerate(events) if _piece(step)]
    if not places:
        return plan
    # Gemini sends each call whole, so the next event is another call.
    is_whole = any("functionCall" in part for part in stream.parts(events[places[0]]))
    own = [p for at, p in enumerate(places) if p == places[0] + at and not (is_whole and at)]
    place = own[len(own) // 2]
    return (*events[:place], _halved(events[place]), Close())


def end_before_tool(moment: Moment, plan: Plan) -> Plan:
    """The stream ends after the text before a tool call, and nothing of the call comes."""
    events = stream.opened(plan)
    text = stream.find(events, _is_text)
    place = stream.find(events, _begins_call)
    if text is None or place is None or place < text:
        return plan
    return (*events[:place], Close())


def _is_text(step: Step) -> bool:
    said = stream.value(step)
    match said:
        case {"delta": {"type": "text_delta"}} | {"type": "response.output_text.delta"}:
            return True
    said_text = any(part.get("text") for part in stream.parts(step))
    return said_text or bool(stream.delta(step).get("content"))


def _begins_call(step: Step) -> bool:
    match stream.value(step):
        case {"type": "content_block_start", "content_block": {"type": "tool_use"}}:
            return True
        case {"type": "response.output_item.added", "item": {"type": "function_call"}}:
            return True
    called = any("functionCall" in part for part in stream.parts(step))
    return called or bool(stream.delta(step).get("tool_calls"))


def _piece(step: Step) -> str:
    """The piece of a tool's input that an event brings, or ""."""
    match stream.value(step):
        case {"delta": {"type": "input_json_delta", "partial_json": str(piece)}}:
            return piece
        case {"type": "response.function_call_arguments.delta", "delta": str(piece)}:
            return piece
    match stream.delta(step):
        case {"tool_calls": [{"function": {"arguments": str(piece)}}, *_]}:
            return piece
    calls = (part.get("functionCall") for part in stream.parts(step))
    return next((_ARGS + json.dumps(c.get("args")) for c in calls if isinstance(c, dict)), "")


_ARGS = '"args":'
"""How the arguments of a call begin where they come whole."""


def _halved(step: Step) -> Step:
    """The event with half of its piece."""
    said, piece = stream.value(step), _piece(step)
    half = piece[: (len(piece) + 1) // 2]
    if piece.startswith(_ARGS) and isinstance(step, Send):
        end = step.data.index(_ARGS.encode()) + len(half.encode())
        return Send(step.data[:end], step.head)
    match said:
        case {"type": "content_block_delta"}:
            return stream.changed(step, delta={**said["delta"], "partial_json": half})
        case {"type": "response.function_call_arguments.delta"}:
            return stream.changed(step, delta=half)
    delta = stream.delta(step)
    call, *others = delta["tool_calls"]
    call = {**call, "function": {**call["function"], "arguments": half}}
    return stream.with_choice(step, delta={**delta, "tool_calls": [call, *others]})


def error_event(
    moment: Moment,
    plan: Plan,
    *,
    after: Count = 3,
    type: str = "overloaded_error",
    message: str = "",
) -> Plan:
    """After `after` events comes an error event, and the stream ends; the status was 200.

    `type` is a neutral cause or a word of the provider's; without a `message` its text is too.
    """
    return stream.error_instead(plan, after, _error(moment, type, message))


def _error(moment: Moment, type: str, message: str) -> Send:
    return Send(moment.traits.error_event(own_error(moment, ApiError(0, type, message))))


def error_event_after_the_end(
    moment: Moment, plan: Plan, *, type: str = "overloaded_error", message: str = ""
) -> Plan:
    """The answer has come whole, and after its terminal event comes an error event.

    The Anthropic SDK raises it, so its caller does not get the answer; the OpenAI SDK has stopped
    reading.
    """
    events = stream.opened(plan)
    place = stream.find(events, stream.is_end)
    if place is None:
        return plan
    steps = (
        *events[: place + 1],
        _error(moment, type, message),
        *events[place + 1 :],
    )
    return stream.ended(steps) if moment.traits.reads_past_the_end else steps


def error_event_not_json(
    moment: Moment, plan: Plan, *, after: Count = 3, text: str = "upstream connect error"
) -> Plan:
    """After `after` events comes an error event whose data is plain text, and the stream ends."""
    return stream.error_instead(plan, after, stream.frame(text, "error"))


def invalid_json(moment: Moment, plan: Plan, *, after: Count = 2) -> Plan:
    """After `after` events one comes whose data breaks off inside its JSON; then the end."""
    return _garbled(plan, after, lambda data: data[: data.rfind(b"}")] + b"\n\n")


def invalid_utf8(moment: Moment, plan: Plan, *, after: Count = 2) -> Plan:
    """After `after` events one comes with bytes that are not UTF-8; then the end."""
    return _garbled(plan, after, lambda data: data.replace(b'"', b'"\xff\xfe', 1))


def _garbled(plan: Plan, after: int, garble: Callable[[bytes], bytes]) -> Plan:
    events = stream.opened(plan)
    sends = [place for place, step in enumerate(events) if stream.value(step)]
    if len(sends) <= after:
        return plan
    place = sends[after]
    step = events[place]
    data = garble(step.data) if isinstance(step, Send) else b""
    return (*events[:place], stream.headed(Send(data), step), Close())
