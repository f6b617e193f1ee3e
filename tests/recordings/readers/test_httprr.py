"""Traces of httprr: sizes, then the bytes of a request and of its answer."""

from __future__ import annotations

import json

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import ToolUse
from harness.recordings.recognition import format_named, format_of
from tests.recordings.cassettes import ANSWER, ANTHROPIC_EVENTS, MESSAGES_URL, REQUEST, sse
from tests.recordings.imports import exchanges_in

HTTPRR = format_named("httprr")


def _request(method: str = "POST", url: str = MESSAGES_URL) -> bytes:
    head = f"{method} {url} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n\r\n"
    return head.encode() + json.dumps(REQUEST).encode()


def _answer(body: bytes, *headers: str, status: str = "HTTP/2.0 200 OK") -> bytes:
    return "\r\n".join((status, *headers, "", "")).encode() + body


def trace(*pairs: tuple[bytes, bytes]) -> bytes:
    """A trace of requests and answers."""
    parts = (b"%d %d\n" % (len(asked), len(said)) + asked + said for asked, said in pairs)
    return b"httprr trace v1\n" + b"".join(parts)


WHOLE = trace((_request(), _answer(json.dumps(ANSWER).encode())))


def test_an_exchange_is_the_request_and_its_answer() -> None:
    assert format_of(WHOLE) == "httprr"
    (found,) = HTTPRR.read(WHOLE).transcripts
    assert [message.role for message in found.messages] == ["user", "assistant"]
    assert found.messages[1].blocks == (ToolUse("toolu_1", "roll", {"sides": 6}),)
    assert (found.wire, found.model, found.status) == ("anthropic", "claude-x", 200)


def test_a_stream_in_chunks_is_put_together() -> None:
    events = sse(*ANTHROPIC_EVENTS)
    halves = (events[:50], events[50:], b"")
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(half), half) for half in halves)
    headers = ("Content-Type: text/event-stream", "Transfer-Encoding: chunked")
    data = trace((_request(), _answer(chunked, *headers, status="HTTP/1.1 200 OK")))
    (found,) = HTTPRR.read(data).transcripts
    assert found.messages[1].blocks == (ToolUse("toolu_1", "roll", {"sides": 6}),)
    assert exchanges_in(data)[0].answer.body == events


def test_a_trace_is_played_as_any_cassette() -> None:
    (exchange,) = exchanges_in(WHOLE)
    assert (exchange.method, exchange.path) == ("POST", "/v1/messages")
    assert json.loads(exchange.body) == REQUEST
    assert json.loads(exchange.answer.body) == ANSWER


def test_an_error_is_an_answer_without_a_message() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    answer = _answer(json.dumps(error).encode(), status="HTTP/2.0 529 Overloaded")
    (found,) = HTTPRR.read(trace((_request(), answer))).transcripts
    assert found.error is not None
    assert (found.error.type, found.status) == ("overloaded_error", 529)


def test_other_requests_are_none_of_ours() -> None:
    data = trace((_request("GET", "https://h/v1/models"), _answer(b"{}")))
    assert HTTPRR.read(data).refused == {"no LLM traffic: GET /v1/models": 1}
    assert HTTPRR.read(trace()).refused == {"no HTTP exchange is recorded": 1}


@pytest.mark.parametrize("cut", [-1, -200, len(b"httprr trace v1\n12")])
def test_a_torn_trace_names_the_exchange(cut: int) -> None:
    with pytest.raises(InputError, match="exchange 1: the trace is torn"):
        HTTPRR.read(WHOLE[:cut])
