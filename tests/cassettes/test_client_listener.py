"""Recording with vcrpy over real sockets: what is kept, what is not, and what is never written."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

from harness.cassettes.cassette_file import read_cassette
from harness.cassettes.client_listener import recording
from harness.core.values.errors import InputError
from tests.cassettes.recorded import ASK, said

KEY = "sk-ant-api03-" + "k" * 40


class _Handler(BaseHTTPRequestHandler):
    """Answers with what the last message says it should: a text, a stream, or a status."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, kind, body = _answer(asked) if "messages" in asked else (200, "json", {})
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", f"application/{kind}" if kind == "json" else kind)
        self.send_header("request-id", "req_1")
        self.send_header("set-cookie", f"session={KEY}")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _answer(asked: dict[str, Any]) -> tuple[int, str, Any]:
    if asked["messages"][-1]["content"] == "fail":
        error = {"type": "invalid_request_error", "message": f"bad key {KEY}"}
        return 400, "json", {"type": "error", "error": error}
    if not asked.get("stream"):
        return 200, "json", said(f"the key is {KEY}")
    return 200, "text/event-stream", _events(KEY)


def _events(text: str) -> str:
    start = {**said(""), "content": []}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    block = {"type": "text", "text": ""}
    events.append({"type": "content_block_start", "index": 0, "content_block": block})
    for n in range(0, len(text), 5):
        delta = {"type": "text_delta", "text": text[n : n + 5]}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events.append({"type": "content_block_stop", "index": 0})
    events.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}})
    events.append({"type": "message_stop"})
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


@pytest.fixture
def url() -> Iterator[str]:
    """A small provider on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _client(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0)


def _plain(url: str) -> str:
    return "".join(b.text for b in _client(url).messages.create(**ASK).content if b.type == "text")


def _streamed(url: str) -> str:
    with _client(url).messages.stream(**ASK) as stream:
        return stream.get_final_text()


def _async(url: str) -> str:
    async def ask() -> str:
        async with anthropic.AsyncAnthropic(base_url=url, api_key=KEY) as client:
            message = await client.messages.create(**ASK)
        return "".join(block.text for block in message.content if block.type == "text")

    return asyncio.run(ask())


@pytest.mark.parametrize("ask", [_plain, _streamed, _async])
def test_the_agent_hears_the_key_and_the_file_does_not(
    ask: Callable[[str], str], url: str, tmp_path: Path
) -> None:
    path = tmp_path / "deep" / "x.yaml"
    with recording(path):
        assert KEY in ask(url)
    text = path.read_text()
    assert KEY[13:] not in text
    assert "k" * 5 not in text
    assert "127.0.0.1" not in text
    assert "uri: https://api.anthropic.com/v1/messages" in text
    (exchange,) = read_cassette(path)
    assert json.loads(exchange.body)["messages"] == ASK["messages"]
    assert exchange.answer.headers["request-id"] == "req_1"
    assert set(exchange.answer.headers) == {"content-type", "request-id"}


def test_refusals_are_recorded_masked(url: str, tmp_path: Path) -> None:
    request = {**ASK, "messages": [{"role": "user", "content": "fail"}]}
    with recording(tmp_path / "x.yaml"), pytest.raises(anthropic.BadRequestError):
        _client(url).messages.create(**request)
    (exchange,) = read_cassette(tmp_path / "x.yaml")
    assert exchange.answer.status == 400
    assert json.loads(exchange.answer.body)["error"]["message"] == "bad key [REDACTED]"


def test_the_same_traffic_makes_the_same_file(url: str, tmp_path: Path) -> None:
    for name in ("one.yaml", "two.yaml"):
        with recording(tmp_path / name):
            _plain(url)
            _streamed(url)
    assert (tmp_path / "one.yaml").read_bytes() == (tmp_path / "two.yaml").read_bytes()


def test_what_is_no_call_to_a_model_passes_through_unrecorded(url: str, tmp_path: Path) -> None:
    with recording(tmp_path / "x.yaml"):
        assert httpx2.post(f"{url}/harness/outbox", json={"text": "hi"}).json() == {}
        _plain(url)
    assert [e.path for e in read_cassette(tmp_path / "x.yaml")] == ["/v1/messages"]


def test_recording_starts_afresh(url: str, tmp_path: Path) -> None:
    for _ in range(2):
        with recording(tmp_path / "x.yaml"):
            _plain(url)
    assert len(read_cassette(tmp_path / "x.yaml")) == 1


def _failing(url: str) -> None:
    _plain(url)
    raise ZeroDivisionError


def test_an_agent_that_fails_leaves_the_old_file_and_no_other(url: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), recording(path):
        _failing(url)
    assert [p.name for p in tmp_path.iterdir()] == ["x.yaml"]
    assert path.read_bytes() == b"old"


def test_nothing_recorded_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with pytest.raises(InputError, match=r"x\.yaml: no call to a model"), recording(path):
        pass
    assert list(tmp_path.iterdir()) == []
