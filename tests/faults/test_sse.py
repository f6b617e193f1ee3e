from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.core.plans import Close, Plan, Send
from harness.faults import sse
from harness.wires.anthropic.wire import AnthropicWire
from tests.faults.world import bend, written

STREAM, JSON = written(stream=True), written(stream=False)
FAULTS = [sse.no_message_stop, sse.no_message_delta, sse.end_inside_tool_input, sse.error_event]


def events(plan: Plan) -> list[str]:
    """The names of the events that are sent."""
    return [s.data.split(b"\n")[0].decode()[7:] for s in plan if isinstance(s, Send)]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_is_no_stream_stays(fault: Callable[..., Plan]) -> None:
    assert bend(fault, JSON) == JSON
    assert bend(fault, (Close(),)) == (Close(),)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bent_stream_begins_as_it_was_and_is_not_complete(fault: Callable[..., Plan]) -> None:
    bent = bend(fault, STREAM)
    assert bent[-1] == Close()
    assert bent[0] == STREAM[0]
    body = b"".join(step.data for step in bent if isinstance(step, Send))
    assert not AnthropicWire().parse(body, "text/event-stream").complete


@pytest.mark.parametrize(
    ("fault", "missing"),
    [
        (sse.no_message_stop, ["message_stop"]),
        (sse.no_message_delta, ["message_delta", "message_stop"]),
    ],
)
def test_the_end_is_missing(fault: Callable[..., Plan], missing: list[str]) -> None:
    assert events(bend(fault, STREAM)) == events(STREAM)[: -len(missing)]
    assert events(STREAM)[-len(missing) :] == missing


def test_the_stream_ends_after_the_first_piece_of_a_tools_input() -> None:
    bent = bend(sse.end_inside_tool_input, STREAM)
    pieces = [s for s in bent if isinstance(s, Send) and b"input_json_delta" in s.data]
    assert len(pieces) == 1
    assert bent[-2:] == (pieces[0], Close())


@pytest.mark.parametrize("after", range(len(STREAM)))
def test_an_error_event_comes_in_place_of_the_rest(after: int) -> None:
    bent = bend(sse.error_event, STREAM, after=after, type="api_error", message="no")
    assert bent[:after] == STREAM[:after]
    error, close = bent[after:]
    assert isinstance(error, Send)
    assert error.data.startswith(b"event: error\ndata: ")
    assert b'"type":"api_error","message":"no"' in error.data
    assert close == Close()
    first = bent[0]
    assert isinstance(first, Send)
    assert first.head, "the head is not lost with the first event"
