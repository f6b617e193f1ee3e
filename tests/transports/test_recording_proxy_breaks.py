"""The recording proxy where something breaks: what the agent receives, and what is recorded of
it."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import httpx2
import pytest

from harness.core.values.errors import InputError
from tests.cassettes.recorded import ASK
from tests.transports.recording import EVENT, HELLO, STOP, post, proxy, raw, written
from tests.transports.upstreams import CHUNKED, JSON_HEAD, STREAM_HEAD, Step, chunk, upstream


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


def test_a_request_that_is_no_http_is_refused() -> None:
    with proxy("http://127.0.0.1:9") as (server, recorder):
        assert raw(server, b"hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert len(recorder) == 0
