"""The recording proxy between framings: compression, no length, an old client, 100-continue."""

from __future__ import annotations

import gzip
from pathlib import Path

from tests.transports.recording import EVENT, HELLO, STOP, post, proxy, raw, written
from tests.transports.upstreams import CHUNKED, JSON_HEAD, STREAM_HEAD, chunk, upstream, whole


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
        heard = raw(server, b"POST /v1/messages HTTP/1.0\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}")
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
        answer = raw(server, request, b"{}")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert answer.endswith(HELLO)
    assert b"expect" not in heard[0]
