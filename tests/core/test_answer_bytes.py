"""What a client reads of an answer's bytes: its content under any framing, and its silences.

What only keeps a connection open says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.answer_event import silent_ms
from harness.core.transition.faulty_answer import read
from harness.core.values.plans import Close, Plan, Send, Wait
from harness.faults.transport.http_framing import (
    extra_bytes_in_chunk,
    malformed_chunk_size,
    plain_body_as_gzip,
    slow_headers,
    truncated_gzip,
)
from harness.providers import by_name
from tests.faults.world import bend, written

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


FRAMINGS = {
    slow_headers: True,
    extra_bytes_in_chunk: True,
    plain_body_as_gzip: True,
    malformed_chunk_size: False,
    truncated_gzip: False,
}
"""Whether a client has seen the last event when the framing breaks."""


@pytest.mark.parametrize("fault", FRAMINGS)
def test_what_comes_before_broken_framing_is_read(fault: Callable[..., Plan]) -> None:
    """A client that stops at the last event meets nothing of what follows it."""
    found = read(by_name("anthropic"), bend(fault, written(stream=True)))
    assert found is not None
    assert (found[0].status, found[1].complete) == (200, FRAMINGS[fault])
