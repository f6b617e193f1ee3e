"""A stream without content for too long is abandoned, even if pings keep it open."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace

import anthropic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.models.failures import ModelFailure
from harness.agent.models.timeouts import (
    CONNECT_S,
    SILENCE_MAX_S,
    failing_on_silence,
    with_read_timeout,
)
from harness.clock import VirtualClock
from harness.clock.virtual_clock import virtual_time

PING = b'event: ping\ndata: {"type": "ping"}\n\n'
COMMENT = b": keep-alive\n\n"
WORD = b'event: content_block_delta\ndata: {"type": "content_block_delta"}\n\n'
PIECES = st.lists(st.tuples(st.integers(0, 100), st.sampled_from([PING, COMMENT, WORD])))


def _read(pieces: list[tuple[int, bytes]]) -> bytes:
    """What is read of a stream whose pieces come a number of seconds after each other."""

    def come(size: int = 0) -> Iterator[bytes]:
        for seconds, piece in pieces:
            time.sleep(seconds)
            yield piece

    with virtual_time(VirtualClock()):
        stream = SimpleNamespace(response=SimpleNamespace(iter_bytes=come))
        return b"".join(failing_on_silence(stream).response.iter_bytes())


@pytest.mark.parametrize("ping", [PING, COMMENT, b"\n"])
def test_pings_alone_are_no_answer(ping: bytes) -> None:
    with pytest.raises(ModelFailure, match="nothing but pings") as failed:
        _read([(0, WORD), *[(15, ping)] * 60])
    assert failed.value.kind == "broken_stream"


def test_pings_between_words_are_read_on() -> None:
    pieces = [(100, PING), (40, WORD)] * 20
    assert _read(pieces) == (PING + WORD) * 20


@given(PIECES)
def test_it_fails_just_when_a_piece_that_says_nothing_comes_after_the_time(
    pieces: list[tuple[int, bytes]],
) -> None:
    silent, is_late = 0, False
    for seconds, piece in pieces:
        silent = 0 if piece == WORD else silent + seconds
        is_late = is_late or silent >= SILENCE_MAX_S
    if is_late:
        with pytest.raises(ModelFailure):
            _read(pieces)
    else:
        assert _read(pieces) == b"".join(piece for _, piece in pieces)


def test_a_client_waits_no_ten_minutes_for_bytes() -> None:
    patient = anthropic.Anthropic(api_key="x")
    assert with_read_timeout(patient).timeout.read == SILENCE_MAX_S
    assert with_read_timeout(patient).timeout.connect == CONNECT_S
    assert with_read_timeout(anthropic.Anthropic(api_key="x", timeout=5.0)).timeout == 5.0
