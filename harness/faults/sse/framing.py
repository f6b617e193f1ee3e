"""The same events in other bytes, and a body of the other sort than was asked for.

Most of these faults are neutral. Missing event names, an unterminated last event and a split pair
of surrogates are not: SDKs may drop or garble them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Head, Plan, Send, Step, Wait
from harness.faults.shared import stream_events as stream

STAGE = "bytes"
SEAMS = ("model",)
WIRES = {
    "surrogate_pair_split": ("anthropic",),
    "no_event_names": ("anthropic", "openai-responses"),
}

_PAIR = re.compile("[\U00010000-\U0010ffff]")
"""A character that JSON may escape as two halves."""

_NAME_LINE = re.compile(rb"^event:[^\r\n]*(?:\r\n|\n|\r)", re.MULTILINE)


def crlf_split(moment: Moment, plan: Plan) -> Plan:
    """Lines end with CR and LF, and each event's last LF comes apart, a millisecond later."""
    return _apart(plan, lambda data: (data.replace(b"\n", b"\r\n")[:-1], b"\n"))


def no_space_after_colon(moment: Moment, plan: Plan) -> Plan:
    """`data:{...}` and `event:name`, without the space that nearly all servers send."""
    fields = re.compile(rb"^(event|data): ", re.MULTILINE)
    return _rewritten(plan, lambda data: fields.sub(rb"\1:", data))


def no_last_blank_line(moment: Moment, plan: Plan) -> Plan:
    """The last event is ended by the end of the body alone, and SDKs do not give it out."""
    events = stream.opened(plan)
    if not events or not isinstance(events[-1], Send):
        return plan
    last = Send(events[-1].data.rstrip(b"\r\n") + b"\n", events[-1].head)
    steps = (*events[:-1], last)
    return (*steps, *stream.closed(events[:-1]))


def character_split(moment: Moment, plan: Plan) -> Plan:
    """Sends end inside a character of several bytes, whose rest comes a millisecond later."""
    return _apart(plan, _inside_a_character)


def surrogate_pair_split(moment: Moment, plan: Plan) -> Plan:
    """A character beyond U+FFFF comes in two pieces, each one escaped half of a surrogate pair."""
    return stream.spliced(plan, lambda step: _PAIR.search(_text_of(step)) is not None, _in_halves)


def _in_halves(step: Step) -> tuple[Step, ...]:
    text = _text_of(step)
    pair = _PAIR.search(text)
    assert pair is not None
    high, low = (json.loads(f'"{half}"') for half in re.findall(r"\\u\w{4}", json.dumps(pair[0])))
    return _piece(step, text[: pair.start()] + high), _piece(step, low + text[pair.end() :])


def no_event_names(moment: Moment, plan: Plan) -> Plan:
    """Events come without their `event:` line, as data only; the SDK drops them all."""
    bent = _rewritten(plan, lambda data: _NAME_LINE.sub(b"", data))
    return bent if bent is plan or not moment.traits.names_events else stream.ended(bent)


def _rewritten(plan: Plan, rewrite: Callable[[bytes], bytes]) -> Plan:
    """The stream with the bytes of each event rewritten."""
    return stream.mapped(
        plan, lambda step: Send(rewrite(step.data), step.head) if isinstance(step, Send) else step
    )


def _apart(plan: Plan, split: Callable[[bytes], tuple[bytes, bytes]]) -> Plan:
    """The stream with events sent in two parts where `split` gives a second one."""
    steps: list[Step] = []
    for step in stream.opened(plan):
        first, second = split(step.data) if isinstance(step, Send) else (b"", b"")
        if second:
            steps += [stream.headed(Send(first), step), Wait(1), Send(second)]
        else:
            steps.append(step)
    return tuple(steps) if any(isinstance(step, Wait) for step in steps) else plan


def _inside_a_character(data: bytes) -> tuple[bytes, bytes]:
    place = next((n for n, byte in enumerate(data) if byte >= 0xC0), None)
    return (data, b"") if place is None else (data[: place + 1], data[place + 1 :])


def _text_of(step: Step) -> str:
    match stream.value(step):
        case {"delta": {"type": "text_delta", "text": str(text)}}:
            return text
    return ""


def _piece(step: Step, text: str) -> Send:
    return Send(stream.changed(step, delta={"type": "text_delta", "text": text}).data)


_JSON = {"content-type": "application/json"}

_STREAM = {"content-type": "text/event-stream; charset=utf-8"}


def json_to_a_stream_request(moment: Moment, plan: Plan) -> Plan:
    """A stream was asked for, and a plain JSON answer comes: the message that would have begun."""
    first = next((step for step in stream.opened(plan) if isinstance(step, Send)), None)
    if first is None or first.head is None:
        return plan
    said = stream.value(first)
    body = said.get("message") or said.get("response") or said
    head = Head(first.head.status, {**first.head.headers, **_JSON})
    return (Send(msgspec.json.encode(body), head), Close())


def stream_to_a_plain_request(moment: Moment, plan: Plan) -> Plan:
    """A plain answer was asked for, and it comes as the events of a stream."""
    first = next((step for step in plan if isinstance(step, Send)), None)
    if first is None or first.head is None or stream.opened(plan) or first.head.status != 200:
        return plan
    body = stream.value(Send(b"data: " + first.data))
    head = Head(200, {**first.head.headers, **_STREAM})
    return (Send(moment.traits.outline(body), head), Close())


def _ends_lines(moment: Moment, plan: Plan, *, line_end: str) -> Plan:
    """A template of presets: lines end with this."""
    return _rewritten(plan, lambda data: data.replace(b"\n", line_end.encode()))
