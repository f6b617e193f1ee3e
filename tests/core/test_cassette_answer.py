"""A recorded answer as it came: no byte and no wait is lost, and what broke off breaks off."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.cassette_answer import as_it_came, endings, is_plain
from harness.core.values.plans import (
    Answer,
    ApiError,
    Close,
    Head,
    Plan,
    Recorded,
    Reply,
    Send,
    Wait,
)

STREAM = {"content-type": "text/event-stream; charset=utf-8"}
_events = st.lists(st.sampled_from([b"event: a\n", b"data: 1\n", b"\n", b"\r\n", b":", b"x"]))
_pieces = st.lists(st.tuples(st.binary(max_size=9), st.integers(0, 10**6)), max_size=6)


def _written(value: Recorded) -> Plan:
    """As every wire writes a recorded answer."""
    return (Send(value.body, Head(value.status, value.headers)),)


def _steps(value: Recorded) -> Plan:
    return as_it_came(value, _written(value))


def _sends(plan: Plan) -> list[Send]:
    return [step for step in plan if isinstance(step, Send)]


@given(_pieces, _events, st.sampled_from(["", "reset", "broken"]), st.booleans())
def test_no_byte_and_no_wait_is_lost(
    came: list[tuple[bytes, int]], rest: list[bytes], cut: str, is_stream: bool
) -> None:
    body = b"".join([data for data, _ in came]) + b"".join(rest)
    sizes = tuple((len(data), wait_ms) for data, wait_ms in came)
    value = Recorded(200, STREAM if is_stream else {}, body, sizes, cut)  # type: ignore[arg-type]
    plan = _steps(value)
    assert b"".join(send.data for send in _sends(plan)) == body
    assert sum(s.ms for s in plan if isinstance(s, Wait)) == sum(wait for _, wait in came)
    assert [send.head is not None for send in _sends(plan)] == [True] + [False] * (
        len(_sends(plan)) - 1
    )
    assert [type(step) for step in plan].count(Close) == bool(cut)
    assert not cut or isinstance(plan[-1], Close)


@given(_pieces.filter(lambda came: all(data for data, _ in came)))
def test_each_piece_comes_after_its_wait(came: list[tuple[bytes, int]]) -> None:
    sizes = tuple((len(data), wait_ms) for data, wait_ms in came)
    plan = _steps(Recorded(200, {}, b"".join(data for data, _ in came), sizes))
    found = [(after.data, w.ms) for w, after in pairwise(plan) if isinstance(w, Wait)
             and isinstance(after, Send)]  # fmt: skip
    if came and not came[0][1]:
        first, *_ = _sends(plan)
        found = [(first.data, 0), *found]
    assert found == came


def test_a_stream_is_sent_event_by_event() -> None:
    body = b"event: a\ndata: 1\n\nevent: b\r\ndata: 2\r\n\r\ndata: [DONE]\n\n"
    sends = _sends(_steps(Recorded(200, STREAM, body)))
    assert [s.data for s in sends] == [
        b"event: a\ndata: 1\n\n", b"event: b\r\ndata: 2\r\n\r\n", b"data: [DONE]\n\n"
    ]  # fmt: skip
    assert [s.data for s in _sends(_steps(Recorded(200, {}, body)))] == [body]
    timed = _steps(Recorded(200, STREAM, body, ((5, 10), (len(body) - 5, 0))))
    assert [s.ms if isinstance(s, Wait) else s.data for s in timed if isinstance(s, Wait | Send)][
        :4
    ] == [10, b"event", 0, b": a\ndata: 1\n\n"]


@pytest.mark.parametrize(
    ("cut", "end", "framing"),
    [("reset", Close(reset=True), None), ("broken", Close(), "chunked")],
)
def test_a_body_that_broke_off_breaks_off(cut: str, end: Close, framing: str | None) -> None:
    for body in (b"{", b""):
        *_, sent, last = _steps(Recorded(200, {}, body, (), cut))  # type: ignore[arg-type]
        assert last == end
        assert isinstance(sent, Send)
        assert sent.data == body
        assert sent.head is not None
        assert sent.head.headers.get("transfer-encoding") == framing


def test_what_was_not_recorded_is_left() -> None:
    plan: Plan = (Send(b"x", Head(200, {})), Send(b"y"))
    assert as_it_came(Reply(), plan) is plan
    assert as_it_came(ApiError(500, "api_error", "x"), plan) is plan
    assert is_plain(Reply())
    assert is_plain(Recorded(200, {}, b"x"))
    assert not is_plain(Recorded(200, {}, b"x", ((1, 0),)))
    assert not is_plain(Recorded(200, {}, b"x", (), "reset"))
    assert endings((Wait(1), Answer(Reply()), Answer(Recorded(200, {}, b"")))) == ()
    assert endings((Answer(Recorded(200, {}, b"", (), "broken")),)) == (Close(),)
