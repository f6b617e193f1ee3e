"""The recording proxy over sockets: what passes through it, and what is recorded."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from harness.cassettes.timing import Piece, Timing
from harness.clock import RealClock
from tests.cassettes.recorded import ASK, said
from tests.transports.recording import EVENT, HELLO, STOP, post, proxy, written
from tests.transports.upstreams import CHUNKED, STREAM_HEAD, answering, chunk, upstream, whole


class Ticking(RealClock):
    """A clock that goes on by 10 ms whenever it is read."""

    def __init__(self) -> None:
        super().__init__()
        self._now_ms = 0

    def now_ms(self) -> int:
        """The time, which has passed meanwhile."""
        self._now_ms += 10
        return self._now_ms


def test_request_and_answer_pass_and_are_recorded(tmp_path: Path) -> None:
    heard: list[bytes] = []
    with (
        upstream(whole(HELLO, b"request-id: req_1", b"x-other: 1"), heard=heard) as url,
        proxy(url) as (server, recorder),
    ):
        answer = post(server, "/v1/messages?beta=true", headers={"anthropic-beta": "b1"})
        assert (answer.status_code, answer.content) == (200, HELLO)
        assert answer.headers["x-other"] == "1"
        assert answer.headers["content-length"] == str(len(HELLO))
    (request,) = heard
    assert request.startswith(b"POST /v1/messages?beta=true\r\n")
    assert b"anthropic-beta: b1\r\n" in request
    assert b"accept-encoding: identity\r\n" in request
    assert request.endswith(json.dumps(ASK, separators=(",", ":")).encode())
    ((exchange,), timings) = written(recorder, tmp_path)
    assert json.loads(exchange.body) == ASK
    assert exchange.answer.body == HELLO
    assert exchange.answer.headers["request-id"] == "req_1"
    assert timings[1].fits(HELLO)
    assert timings[1].cut == ""
    assert "https://api.anthropic.com/v1/messages?beta=true" in (tmp_path / "x.yaml").read_text()


def test_a_stream_passes_piece_by_piece_and_keeps_its_boundaries_and_times(tmp_path: Path) -> None:
    first_seen, first, rest = threading.Event(), EVENT + EVENT[:9], EVENT[9:] + STOP
    steps = (STREAM_HEAD + CHUNKED + chunk(first), first_seen, chunk(rest) + b"0\r\n\r\n")
    streamed = {**ASK, "stream": True}
    with (
        upstream(*steps) as url,
        proxy(url, clock=Ticking()) as (server, recorder),
        httpx2.stream("POST", f"{server.url}/v1/messages", json=streamed, trust_env=False) as got,
    ):
        pieces = got.iter_raw()
        assert next(pieces) == first
        first_seen.set()
        assert b"".join(pieces) == rest
    ((exchange,), timings) = written(recorder, tmp_path)
    assert exchange.answer.body == first + rest
    assert timings == {1: Timing(10, (Piece(len(first), 10), Piece(len(rest), 10)))}


def test_the_real_key_stands_in_for_the_dummy_and_is_never_written(tmp_path: Path) -> None:
    key, heard = "opaque-key-of-no-shape", list[bytes]()
    with upstream(whole(HELLO), heard=heard) as url, proxy(url, key=key) as (server, recorder):
        post(
            server,
            headers={"x-api-key": "sk-harness-dummy", "authorization": "Bearer sk-harness-dummy"},
        )
        post(server, headers={"x-api-key": "the agent's own"})
        post(server, headers={"x-another-key": "sk-harness-dummy"})
        recorder.write(tmp_path / "x.yaml")
    assert f"x-api-key: {key}\r\nauthorization: Bearer {key}".encode() in heard[0]
    assert b"x-api-key: the agent's own\r\n" in heard[1]
    assert f"x-another-key: {key}\r\n".encode() in heard[2]
    assert key not in (tmp_path / "x.yaml").read_text()


@pytest.mark.real
def test_ten_megabytes_pass_both_ways(tmp_path: Path) -> None:
    text = "many words " * 1_000_000
    answer = json.dumps(said(text)).encode()
    request = {**ASK, "messages": [{"role": "user", "content": text}]}
    with upstream(whole(answer)) as url, proxy(url) as (server, recorder):
        assert post(server, json=request).content == answer
    ((exchange,), timings) = written(recorder, tmp_path)
    assert json.loads(exchange.body) == request
    assert exchange.answer.body == answer
    assert [p.size_bytes for p in timings[1].pieces] == [len(answer)]


def test_many_at_once_are_recorded_in_the_order_in_which_they_were_asked(tmp_path: Path) -> None:
    def answer(body: bytes) -> bytes:
        return whole(json.dumps(said(json.loads(body)["messages"][0]["content"])).encode())

    texts = [f"question {n}" for n in range(16)]
    with answering(answer) as url, proxy(url) as (server, recorder), ThreadPoolExecutor(8) as pool:
        asks = [{**ASK, "messages": [{"role": "user", "content": text}]} for text in texts]
        answers = list(pool.map(lambda ask: post(server, json=ask).json(), asks))
    assert [a["content"][0]["text"] for a in answers] == texts
    exchanges, timings = written(recorder, tmp_path)
    asked = [json.loads(e.body)["messages"][0]["content"] for e in exchanges]
    assert sorted(asked) == sorted(texts)
    for text, exchange in zip(asked, exchanges, strict=True):
        assert json.loads(exchange.answer.body)["content"][0]["text"] == text
    assert [timings[n].at_ms for n in sorted(timings)] == sorted(t.at_ms for t in timings.values())


def test_a_connection_that_the_provider_may_close_any_moment_gets_no_second_request() -> None:
    closes = threading.Event()
    with upstream(whole(HELLO), closes) as url, proxy(url) as (server, _):
        answers = [post(server), post(server)]
        closes.set()
    assert [answer.content for answer in answers] == [HELLO, HELLO]
    assert server.failures == []


def test_what_is_no_call_to_a_model_passes_unrecorded() -> None:
    with upstream(whole(b'{"data": []}')) as url, proxy(url) as (server, recorder):
        assert httpx2.get(f"{server.url}/v1/models", trust_env=False).json() == {"data": []}
    assert len(recorder) == 0


def test_after_the_limit_nobody_is_asked_any_more() -> None:
    heard: list[bytes] = []
    with upstream(whole(HELLO), heard=heard) as url, proxy(url, calls_max=1) as (server, recorder):
        assert [post(server).status_code for _ in range(3)] == [200, 400, 400]
        assert server.failures == ["limits.model_calls = 1: no more calls are recorded"]
    assert (len(heard), len(recorder)) == (1, 1)
