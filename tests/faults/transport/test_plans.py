"""What the faults make of a plan, where the steps themselves are the promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.plans import Close, Head, Plan, Raise, Send, Wait, is_whole
from harness.faults import faults
from harness.faults.shared.pieces import FOREVER_MS, body_of, framed, head_of, ms, written
from tests.faults.world import bend
from tests.faults.world import written as answer

STREAM, JSON = answer(stream=True), answer(stream=False)
OF_BYTES = [
    fault.function
    for fault in faults().values()
    if fault.kind.startswith("transport.") and fault.stage == "bytes"
]


@pytest.mark.parametrize("plan", [STREAM, JSON], ids=["stream", "plain"])
@pytest.mark.parametrize(
    ("fault", "settings", "expected"),
    [
        ("transport.latency", {"wait_s": 0.25}, lambda plan: (Wait(250), *plan)),
        ("transport.latency", {"wait_s": 1, "firing": 4}, lambda plan: (Wait(8000), *plan)),
        ("transport.latency", {"wait_s": 1e300}, lambda plan: (Wait(FOREVER_MS), *plan)),
        ("transport.refused", {}, lambda plan: (Raise("connect"),)),
        ("transport.name_not_found", {}, lambda plan: (Raise("dns"),)),
        (
            "transport.connect_timeout",
            {},
            lambda plan: (Wait(5000), Raise("connect_timeout")),
        ),
        (
            "transport.request_never_read",
            {"wait_s": 3},
            lambda plan: (Wait(3000), Raise("write_timeout")),
        ),
        ("transport.reset_before_headers", {}, lambda plan: (Close(reset=True),)),
        ("transport.close_before_headers", {}, lambda plan: (Close(),)),
        ("transport.headers_never_come", {}, lambda plan: (Wait(FOREVER_MS), Close())),
        ("transport.headers_never_come", {"wait_s": 2}, lambda plan: (Wait(2000), Close())),
        ("transport.reset_mid_stream", {"after": 0}, lambda plan: (Close(reset=True),)),
        ("transport.stalled_stream", {"after": 0, "wait_s": 1}, lambda plan: (Wait(1000), Close())),
    ],
)
def test_what_a_fault_makes_of_an_answer(
    plan: Plan,
    fault: Callable[..., Plan] | str,
    settings: dict[str, Any],
    expected: Callable[[Plan], Plan],
) -> None:
    assert bend(fault, plan, **settings) == expected(plan)


@pytest.mark.parametrize("after", range(len(STREAM)))
def test_a_stream_is_cut_after_so_many_events(after: int) -> None:
    reset = bend("transport.reset_mid_stream", STREAM, after=after)
    assert reset == (*STREAM[:after], Close(reset=True))
    stalled = bend("transport.stalled_stream", (Wait(5), *STREAM), after=after)
    assert stalled == (Wait(5), *STREAM[:after], Wait(FOREVER_MS), Close())
    assert not is_whole(reset)


@pytest.mark.parametrize("fault", ["transport.reset_mid_stream", "transport.stalled_stream"])
def test_what_is_too_short_to_be_cut_stays(fault: Callable[..., Plan] | str) -> None:
    assert bend(fault, JSON) == JSON
    assert bend(fault, STREAM, after=len(STREAM)) == STREAM
    assert sum(isinstance(step, Send) for step in STREAM) == len(STREAM)


@pytest.mark.parametrize("fault", OF_BYTES)
def test_an_answer_that_sends_nothing_can_still_be_bent(fault: Callable[..., Plan] | str) -> None:
    for plan in ((Close(),), (Raise("timeout"),), ()):
        bent = bend(fault, plan)
        assert not any(isinstance(step, Send) for step in bent)


@given(size_bytes=st.integers(1, 400), stream=st.booleans())
def test_pieces_of_any_size_hold_the_whole_body(size_bytes: int, stream: bool) -> None:
    plan = STREAM if stream else JSON
    bent = bend("transport.tiny_segments", plan, size_bytes=size_bytes)
    assert (body_of(bent), head_of(bent)) == (body_of(plan), head_of(plan))
    assert max(len(step.data) for step in bent if isinstance(step, Send)) <= size_bytes
    assert is_whole(bent)


@given(st.floats(0.001, 1e6))
def test_a_trickle_takes_about_as_long_as_it_says(for_s: float) -> None:
    waits = [
        step.ms for step in bend("transport.trickle", JSON, for_s=for_s) if isinstance(step, Wait)
    ]
    assert len(waits) == len(body_of(JSON))
    assert abs(sum(waits) - for_s * 1000) <= len(waits)


def test_one_segment_comes_after_all_waits() -> None:
    plan = (Wait(5), STREAM[0], Wait(7), *STREAM[1:], Close())
    assert bend("transport.one_segment", plan) == (
        Wait(5),
        Wait(7),
        Send(body_of(STREAM), head_of(STREAM)),
        Close(),
    )


def test_pings_are_comments_where_a_wire_has_none() -> None:
    plain = bend("transport.stalled_stream_with_pings", STREAM, every_s=5, for_s=10)
    comments = bend(
        "transport.stalled_stream_with_pings", STREAM, every_s=5, for_s=10, comments=True
    )
    ping, comment = Send(b'event: ping\ndata: {"type": "ping"}\n\n'), Send(b": keep-alive\n\n")
    assert plain == (*STREAM[:3], Wait(5000), ping, Wait(5000), ping, Close())
    assert comments == (*STREAM[:3], Wait(5000), comment, Wait(5000), comment, Close())


def test_reset_mid_body_can_be_told_where() -> None:
    half, reset = bend("transport.reset_mid_body", JSON, after_bytes=3)
    assert (half.data, reset) == (body_of(JSON)[:3], Close(reset=True))  # type: ignore[union-attr]
    assert bend("transport.reset_mid_body", JSON, after_bytes=10**6) == JSON


def test_a_storm_is_spread_over_its_time() -> None:
    bent = bend("transport.informational_storm", JSON, answers=2, for_s=1)
    hint = Send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
    assert bent[:4] == (Wait(500), hint, Wait(500), hint)
    assert bent[4].data.startswith(b"HTTP/1.1 200 OK\r\n")  # type: ignore[union-attr]


def test_a_head_in_bytes() -> None:
    assert (
        written(Head(413, {"a": "b"})) == b"HTTP/1.1 413 Request Entity Too Large\r\na: b\r\n\r\n"
    )
    assert written(Head(599, {})) == b"HTTP/1.1 599 Unknown\r\n\r\n"


def test_framing_replaces_framing() -> None:
    sent = (Send(b"x", Head(200, {"Content-Length": "1", "a": "b"})),)
    head = framed(sent, transfer_encoding="chunked")
    assert head == Head(200, {"a": "b", "transfer-encoding": "chunked"})
    assert framed((Close(),), content_length="1") is None


@pytest.mark.parametrize(
    ("wait_s", "expected"), [(0.5, 500), (None, FOREVER_MS), (1e12, FOREVER_MS)]
)
def test_seconds_are_milliseconds(wait_s: float | None, expected: int) -> None:
    assert ms(wait_s) == expected


@pytest.mark.parametrize("fault", ["transport.redirect", "transport.redirect_as_get"])
def test_a_redirect_is_relative_so_that_it_keeps_the_session(
    fault: Callable[..., Plan] | str,
) -> None:
    [step] = bend(fault, JSON)
    assert isinstance(step, Send)
    assert step.head is not None
    assert step.head.headers == {"location": "messages"}


@pytest.mark.parametrize("after", [0, 1])
def test_pings_do_not_follow_the_only_step_of_an_answer(after: int) -> None:
    assert bend("transport.stalled_stream_with_pings", JSON, after=after, for_s=10) == JSON
