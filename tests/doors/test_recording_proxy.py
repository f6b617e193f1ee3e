"""The recording proxy over sockets: what passes through it, what is recorded, what breaks."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from harness.cassettes.read import read_cassette
from harness.cassettes.recorder import Recorder
from harness.cassettes.timing import Piece, Timing, from_metadata
from harness.clock import Clock, RealClock
from harness.core.errors import InputError
from harness.doors.recording_proxy import RecordingProxy
from harness.doors.upstream import Provider, Upstream, providers
from tests.cassettes.recorded import ASK, said
from tests.doors.upstreams import (
    CHUNKED,
    JSON_HEAD,
    STREAM_HEAD,
    Step,
    answering,
    chunk,
    upstream,
    whole,
)

HELLO = json.dumps(said("hello")).encode()
EVENT = b'event: ping\ndata: {"type": "ping"}\n\n'
STOP = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'


class Ticking(RealClock):
    """A clock that goes on by 10 ms whenever it is read."""

    def __init__(self) -> None:
        super().__init__()
        self._now_ms = 0

    def now_ms(self) -> int:
        """The time, which has passed meanwhile."""
        self._now_ms += 10
        return self._now_ms


@contextmanager
def proxy(
    url: str, *, key: str = "", calls_max: int | None = None, clock: Clock | None = None
) -> Iterator[tuple[RecordingProxy, Recorder]]:
    """A recording proxy before a provider, and what it records."""
    recorder = Recorder()
    both = {name: Provider(url, key) for name in ("anthropic", "openai")}
    with RecordingProxy(recorder, Upstream(both), calls_max=calls_max, clock=clock) as server:
        yield server, recorder


def post(server: RecordingProxy, path: str = "/v1/messages", **options: Any) -> httpx2.Response:
    """Ask for a message."""
    options.setdefault("json", ASK)
    return httpx2.post(f"{server.url}{path}", timeout=20, trust_env=False, **options)


def written(recorder: Recorder, path: Path) -> tuple[list[Any], dict[int, Timing]]:
    """The exchanges of the file, and their timings."""
    recorder.write(path / "x.yaml")
    metadata = yaml.load((path / "x.yaml").read_bytes(), yaml.CSafeLoader).get("metadata")
    return list(read_cassette(path / "x.yaml")), from_metadata(metadata)


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
        post(server, headers={"x-api-key": "sk-dummy", "authorization": "Bearer loop-harness"})
        post(server, headers={"x-api-key": "the agent's own"})
        recorder.write(tmp_path / "x.yaml")
    assert f"x-api-key: {key}\r\nauthorization: Bearer {key}".encode() in heard[0]
    assert b"x-api-key: the agent's own\r\n" in heard[1]
    assert key not in (tmp_path / "x.yaml").read_text()


@pytest.mark.parametrize(
    ("steps", "cut"),
    [
        ((JSON_HEAD + b"content-length: 999\r\n\r\n" + HELLO,), "RemoteProtocolError"),
        ((STREAM_HEAD + CHUNKED + chunk(EVENT),), "RemoteProtocolError"),
        ((STREAM_HEAD + CHUNKED + chunk(EVENT) + b"zz\r\n",), "RemoteProtocolError"),
    ],
)
def test_a_body_that_breaks_off_breaks_off_for_the_agent_and_is_recorded_as_cut(
    steps: tuple[bytes, ...], cut: str, tmp_path: Path
) -> None:
    with upstream(*steps) as url, proxy(url) as (server, recorder):
        with pytest.raises(httpx2.RemoteProtocolError):
            post(server)
        assert server.failures == []
    ((exchange,), timings) = written(recorder, tmp_path)
    assert exchange.answer.body in (HELLO, EVENT)
    assert timings[1].cut.startswith(cut)
    assert timings[1].fits(exchange.answer.body)


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 what\r\n\r\n"])
def test_what_is_no_answer_is_said_and_not_recorded(answer: bytes) -> None:
    with upstream(answer) as url, proxy(url) as (server, recorder):
        said_so = post(server)
        assert said_so.status_code == 502
        assert f"no answer from {url}/v1/messages" in said_so.json()["error"]
        assert said_so.headers["x-should-retry"] == "false"
        assert len(server.failures) == 1
    assert len(recorder) == 0


def test_an_upstream_that_is_not_there_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with proxy(url) as (server, recorder):
        assert post(server).status_code == 502
        assert "Connection refused" in server.failures[0]
    with pytest.raises(InputError, match="no call to a model was recorded"):
        recorder.write(tmp_path / "x.yaml")


def test_gzip_that_nobody_asked_for_is_stored_and_passed_on_decoded(tmp_path: Path) -> None:
    answer = whole(gzip.compress(HELLO), b"content-encoding: gzip")
    with upstream(answer) as url, proxy(url) as (server, recorder):
        heard = post(server)
        assert heard.content == HELLO
        assert "content-encoding" not in heard.headers
    ((exchange,), _) = written(recorder, tmp_path)
    assert exchange.answer.body == HELLO


def test_a_compression_that_cannot_be_undone_is_refused() -> None:
    answer = whole(b"\x1b\x00", b"content-encoding: compress")
    with upstream(answer) as url, proxy(url) as (server, recorder):
        assert post(server).status_code == 502
        assert "answers in compress" in server.failures[0]
    assert len(recorder) == 0


def test_an_answer_without_a_length_ends_with_its_connection(tmp_path: Path) -> None:
    with upstream(JSON_HEAD + b"\r\n" + HELLO) as url, proxy(url) as (server, recorder):
        assert post(server).content == HELLO
    ((exchange,), timings) = written(recorder, tmp_path)
    assert (exchange.answer.body, timings[1].cut) == (HELLO, "")


def test_an_old_client_gets_a_body_that_ends_with_the_connection(tmp_path: Path) -> None:
    steps = (STREAM_HEAD + CHUNKED + chunk(EVENT) + chunk(STOP) + b"0\r\n\r\n",)
    with upstream(*steps) as url, proxy(url) as (server, recorder):
        heard = _raw(server, b"POST /v1/messages HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}")
    head, _, body = heard.partition(b"\r\n\r\n")
    assert body == EVENT + STOP
    assert b"connection: close" in head
    assert b"transfer-encoding" not in head
    assert len(recorder) == 1


def test_a_client_that_expects_100_continue_is_told_to_go_on() -> None:
    request = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n"
    request += b"connection: close\r\ncontent-length: 2\r\n\r\n"
    heard: list[bytes] = []
    with upstream(whole(HELLO), heard=heard) as url, proxy(url) as (server, _):
        answer = _raw(server, request, b"{}")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert answer.endswith(HELLO)
    assert b"expect" not in heard[0]


def _raw(server: RecordingProxy, first: bytes, then: bytes = b"") -> bytes:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(first)
        heard = client.recv(1 << 16) if then else b""
        if then:
            client.sendall(then)
        while data := client.recv(1 << 16):
            heard += data
    return heard


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


def test_a_client_that_leaves_is_recorded_with_what_it_heard(tmp_path: Path) -> None:
    left = threading.Event()
    steps: tuple[Step, ...] = (
        STREAM_HEAD + CHUNKED + chunk(EVENT),
        left,
        *[chunk(STOP * 4000)] * 60,
    )
    with upstream(*steps) as url, proxy(url) as (server, recorder):
        with httpx2.stream("POST", f"{server.url}/v1/messages", json=ASK, trust_env=False) as got:
            assert next(got.iter_raw()) == EVENT
        left.set()
    ((exchange,), timings) = written(recorder, tmp_path)
    assert exchange.answer.body.startswith(EVENT)
    assert timings[1].cut == "the client left"


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


def test_a_request_that_is_no_http_is_refused() -> None:
    with proxy("http://127.0.0.1:9") as (server, recorder):
        assert _raw(server, b"hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert len(recorder) == 0


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/api/v1/", "/api/v1/chat/completions"),
        ("/gateway", "/gateway/v1/chat/completions"),
    ],
)
def test_a_base_may_end_with_the_version(base: str, path: str) -> None:
    heard: list[bytes] = []
    with upstream(whole(HELLO), heard=heard) as url, proxy(url + base) as (server, _):
        post(server, "/s/agent-2/v1/chat/completions")
    assert heard[0].startswith(f"POST {path}\r\n".encode())


def test_providers_come_from_the_environment() -> None:
    found = providers({"OPENAI_BASE_URL": "https://x.example/v1", "ANTHROPIC_API_KEY": "k"})
    assert found["anthropic"] == Provider("https://api.anthropic.com", "k")
    assert found["openai"] == Provider("https://x.example/v1", "")
    both = providers({"OPENAI_BASE_URL": "https://x.example"}, "http://127.0.0.1:1")
    assert {p.url for p in both.values()} == {"http://127.0.0.1:1"}


@pytest.mark.parametrize("make", [lambda: providers({}, "api.x.com"),
                                  lambda: providers({"OPENAI_BASE_URL": "x"})])  # fmt: skip
def test_what_is_no_url_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="no URL of an API"):
        make()
