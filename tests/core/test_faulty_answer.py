"""What faults do to an answer, one after the other, and what is left of it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.events import Answered
from tests.core import world

STORM = {"kind": "transport.informational_storm", "answers": 3}
BYTE_BY_BYTE = {"kind": "transport.slow_headers"}
CUT = {"kind": "sse.error_event_not_json"}
NO_USAGE = {"kind": "http.missing_usage"}


def _answer(*faults: dict[str, Any], **asked: Any) -> Answered:
    run = world.run_with(faults)
    world.ask(run, **asked)
    return world.answers(run)[0]


@pytest.mark.parametrize("frame", [STORM, BYTE_BY_BYTE], ids=lambda fault: fault["kind"])
def test_an_end_that_is_lost_stays_lost_in_another_frame(frame: dict[str, Any]) -> None:
    assert _answer(frame, stream=True).complete
    assert not _answer(CUT, stream=True).complete
    assert not _answer(CUT, frame, stream=True).complete


@pytest.mark.parametrize("frame", [STORM, BYTE_BY_BYTE], ids=lambda fault: fault["kind"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_status_in_a_frame_of_its_own_is_on_record(frame: dict[str, Any], stream: bool) -> None:
    assert _answer(frame, stream=stream).status == 200
    too_long = _answer({"kind": "context.prompt_too_long"}, frame, stream=stream)
    assert (too_long.status, too_long.too_large) == (400, True)


LATE = ["sse.error_event_after_the_end", "transport.extra_bytes_in_chunk"]


@pytest.mark.parametrize("kind", LATE)
def test_what_breaks_after_the_end_takes_back_nothing(kind: str) -> None:
    """A client that stops at the last event has read the answer, and one that reads on has not."""
    answer = _answer({"kind": kind}, stream=True)
    assert (answer.complete, answer.said_all) == (False, True)
    assert not _answer({"kind": "sse.error_event"}, stream=True).said_all


def test_what_is_not_counted_is_not_counted_on_record() -> None:
    wrapped = {"kind": "context.result_message"}
    assert _answer(wrapped).usage == {"input_tokens": 0, "output_tokens": 0}
    assert _answer(wrapped, NO_USAGE).usage == {}
    assert _answer(wrapped, NO_USAGE).faults == ("context.result_message", "http.missing_usage")
