from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.plans import Close, Head, Plan, Raise, Send, Wait
from harness.transports import http_exchange
from harness.transports.http_exchange import HttpExchange, exchange_of

ANSWER = b"HTTP/1.1 200 OK\r\nA: b\r\ncontent-length: 5\r\n\r\nhello"


def read(*steps: bytes | Wait | Raise | Close) -> HttpExchange:
    plan: Plan = tuple(Send(step) if isinstance(step, bytes) else step for step in steps)
    return http_exchange.read_raw(exchange_of(plan))


def body(answer: HttpExchange) -> bytes:
    return b"".join(part for part in answer.parts if isinstance(part, bytes))


@given(cuts=st.lists(st.integers(0, len(ANSWER)), max_size=6))
def test_an_answer_is_read_the_same_however_it_is_cut(cuts: list[int]) -> None:
    edges = sorted({0, *cuts, len(ANSWER)})
    steps: list[bytes | Wait] = []
    for start, end in pairwise(edges):
        steps += (Wait(7), ANSWER[start:end])
    answer = read(*steps)
    assert answer.head == Head(200, {"A": "b", "content-length": "5"})
    assert (body(answer), answer.broken) == (b"hello", "")
    waits = [*answer.before, *(part for part in answer.parts if not isinstance(part, bytes))]
    assert waits == [Wait(7)] * (len(edges) - 1)


def test_what_comes_after_the_body_is_not_read() -> None:
    answer = read(ANSWER + b"more", b"and more", Close())
    assert (body(answer), answer.broken) == (b"hello", "")


def test_informational_answers_come_before_it() -> None:
    answer = read(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50, Wait(1), ANSWER)
    assert (answer.head and answer.head.status, answer.before) == (200, (Wait(1),))


@pytest.mark.parametrize(
    ("data", "broken"),
    [
        (b"what is this\r\n\r\n", "illegal status line"),
        (b"HTTP/1.1 OK 200\r\n\r\n", "illegal status line"),
        (b"", ""),
    ],
)
def test_without_a_head_there_is_no_answer(data: bytes, broken: str) -> None:
    answer = read(data, Close())
    assert answer.head is None
    assert answer.broken.startswith(broken)
    assert answer.broken


@pytest.mark.parametrize(
    ("framing", "data", "got", "broken"),
    [
        ("content-length: 9", b"hello", b"hello", "peer closed connection"),
        ("transfer-encoding: chunked", b"5\r\nhello\r\n", b"hello", "peer closed connection"),
        ("transfer-encoding: chunked", b"5\r\nhello\r\nzz\r\n", b"hello", "illegal chunk header"),
        ("transfer-encoding: chunked", b"4\r\nhello\r\n", b"hell", "malformed chunk footer"),
        ("x: y", b"hello", b"hello", ""),
    ],
)
def test_a_body_is_read_up_to_where_it_breaks(
    framing: str, data: bytes, got: bytes, broken: str
) -> None:
    answer = read(f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\n".encode() + data, Close())
    assert body(answer) == got
    assert answer.broken.startswith(broken)
    assert bool(answer.broken) is bool(broken)
    assert answer.short == answer.broken


@pytest.mark.parametrize("end", [Raise("timeout"), Close(reset=True)])
def test_what_ends_otherwise_is_left_to_its_step(end: Raise | Close) -> None:
    answer = read(ANSWER[:-2], end)
    assert answer.parts == (b"hel", end)
    assert answer.broken == ""
    assert read(ANSWER[:9], end).before == (end,)
