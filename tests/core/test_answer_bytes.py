"""Silence is time in which nothing is said; what only keeps a connection open says nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.answer_event import silent_ms
from harness.core.values.plans import Close, Plan, Send, Wait

PINGS = (
    b'event: ping\ndata: {"type": "ping"}\n\n',
    b'event: ping\r\ndata: {"type":"ping"}\r\n\r\n',
    b": keep-alive\n\n",
    b":\n",
    b"\n\n",
    b'event: ping\ndata: {"type": "ping"}\n\n: and so on\n\n',
)
WORDS = (
    b'event: content_block_delta\ndata: {"delta": ": keep-alive"}\n\n',
    b"{}\n\n",
    b'data: {"type": "ping", "text": "a"}\n\n',
    b": keep-alive\n\ndata: 1\n\n",
    b"event: pingpong\ndata: 1\n\n",
)


@pytest.mark.parametrize("ping", PINGS)
def test_pings_break_no_silence(ping: bytes) -> None:
    assert silent_ms((Send(b"{}\n\n"), *(Wait(10), Send(ping)) * 5, Close())) == 50


@pytest.mark.parametrize("word", WORDS)
def test_words_do(word: bytes) -> None:
    assert silent_ms((Send(b"{}"), *(Wait(10), Send(word)) * 5, Close())) == 10


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        b'{"text": "a : b"}',
        b"event: content_block_delta\ndata: {}\n\ndata: 1\n\n",
    ],
)
def test_what_comes_byte_by_byte_is_said_all_the_time(said: bytes) -> None:
    steps = (step for at in range(len(said)) for step in (Wait(10), Send(said[at : at + 1])))
    assert silent_ms((*steps, Close())) == 10


def test_an_answer_that_was_begun_may_be_silent_after_its_first_blank_line() -> None:
    begun = (Send(b"data: 1"), Wait(5), Send(b"\n\n"))
    assert silent_ms((*begun, *(Wait(10), Send(b"\n")) * 5)) == 50


def test_many_comments_are_read_at_once() -> None:
    assert silent_ms((Wait(1), Send(b": keep-alive\n\n" * 100_000 + b"x"), Wait(2))) == 2


STEPS = st.one_of(
    st.integers(0, 9).map(Wait), st.sampled_from(PINGS).map(Send), st.sampled_from(WORDS).map(Send)
)


@given(st.lists(STEPS).map(tuple))
def test_it_is_the_longest_run_of_waits_between_words(plan: Plan) -> None:
    spoken = [n for n, s in enumerate(plan) if isinstance(s, Send) and s.data in WORDS]
    cuts = [-1, *spoken, len(plan)]
    runs = [sum(s.ms for s in plan[a + 1 : b] if isinstance(s, Wait)) for a, b in pairwise(cuts)]
    assert silent_ms(plan) == max(runs)
