from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Text, ToolUse
from harness.core.values.plans import Close, Head, Plan, Reply, Send, Wait
from harness.faults import faults
from harness.faults.shared import stream_events as events
from harness.providers import by_name
from tests.faults.world import bend, written

STREAM, JSON = written(stream=True), written(stream=False)
WIRES = ("anthropic", "openai-chat", "openai-responses", "gemini")
SSE = {kind: fault for kind, fault in faults().items() if kind.startswith("sse.")}
FUNCTIONS = [pytest.param(fault.function, id=kind) for kind, fault in SSE.items()]


def joined(plan: Plan) -> bytes:
    """The bytes that a plan sends."""
    return b"".join(step.data for step in plan if isinstance(step, Send))


def stream_of(wire: str) -> Plan:
    """A reply of text and two calls as that wire streams it."""
    calls = (ToolUse("toolu_1", "t", {"a": "b"}), ToolUse("toolu_2", "t", {"a": 12}))
    reply = Reply((Text("hi, wörld"), *calls), "tool_use")
    reading = Reading("m", (), 0, (), stream=True)
    return by_name(wire).write(reply, reading, "main/model#1", Draws(1))


@pytest.mark.parametrize("wire", WIRES)
def test_every_event_of_a_stream_has_a_kind(wire: str) -> None:
    plan = stream_of(wire)
    assert all(events.kind(step) for step in plan)
    assert events.is_end(plan[-1])
    assert [events.is_end(step) for step in plan[:-1]] == [False] * (len(plan) - 1)


@pytest.mark.parametrize("wire", WIRES)
def test_a_recorded_stream_is_opened_into_its_events(wire: str) -> None:
    plan = stream_of(wire)
    first = plan[0]
    assert isinstance(first, Send)
    recorded = (Wait(5), Send(joined(plan), first.head), Close())
    assert events.opened(recorded) == (Wait(5), *plan, Close())
    assert events.opened(plan) == plan


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
def test_events_end_with_any_empty_line(end: bytes) -> None:
    head = Head(200, {"Content-Type": "text/event-stream"})
    opened = events.opened((Send(b"data: 1" + end + b"data: 2" + end + b"data: 3", head),))
    assert [step.data for step in opened if isinstance(step, Send)] == [
        b"data: 1" + end,
        b"data: 2" + end,
        b"data: 3",
    ]


@pytest.mark.parametrize("fault", FUNCTIONS)
@pytest.mark.parametrize("plan", [(), (Close(),), (Close(reset=True),), (Wait(1),)])
def test_a_plan_without_a_body_stays(fault: Callable[..., Plan], plan: Plan) -> None:
    assert bend(fault, plan) == plan


@pytest.mark.parametrize("kind", SSE)
def test_a_plain_answer_stays_but_for_the_one_fault_that_is_of_it(kind: str) -> None:
    changes = kind == "sse.stream_to_a_plain_request"
    assert (bend(kind, JSON) != JSON) is changes


@pytest.mark.parametrize(
    ("kind", "wire"),
    [(kind, wire) for kind in SSE for wire in WIRES if wire in (SSE[kind].wires or WIRES)],
)
def test_a_bent_stream_keeps_its_head_on_its_first_send_and_on_no_other(
    kind: str, wire: str
) -> None:
    plan = stream_of(wire)
    bent = bend(SSE[kind].function, plan, wire=wire)
    heads = [step.head for step in bent if isinstance(step, Send)]
    assert heads
    assert heads[0] is not None
    assert [head for head in heads[1:] if head] == []


@given(st.binary(max_size=60), st.sampled_from(sorted(SSE)))
def test_no_bytes_make_a_fault_raise(body: bytes, kind: str) -> None:
    plan = (Send(body, Head(200, {"content-type": "text/event-stream"})),)
    bent = bend(SSE[kind].function, plan, wire=(SSE[kind].wires or ("anthropic",))[0])
    assert isinstance(bent, tuple)


def test_an_error_event_takes_the_place_of_any_event() -> None:
    for after in range(len(STREAM)):
        bent = bend(SSE["sse.error_event"].function, STREAM, after=after, message="no")
        assert bent[:after] == STREAM[:after]
        error, close = bent[after:]
        assert isinstance(error, Send)
        assert b'"message":"no"' in error.data
        assert close == Close()
        first = bent[0]
        assert isinstance(first, Send)
        assert first.head, "the head is not lost with the first event"


def test_an_error_does_not_become_a_stream() -> None:
    error = (Send(b'{"type": "error"}', Head(429, {"content-type": "application/json"})),)
    assert bend("sse.stream_to_a_plain_request", error) == error
    assert bend("sse.stream_to_a_plain_request", STREAM) == STREAM
