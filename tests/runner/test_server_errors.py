"""A server whose handler lets an error of the API through has told its caller of the failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import anthropic
import pytest

from harness import InboxItem, Run, Scenario, Turn, run
from harness.core.scenario.scenario import FaultSpec

pytestmark = pytest.mark.real

OVERLOADED = Scenario(
    name="overloaded",
    policy="open",
    inbox=(InboxItem(id="m1", text="Hello."), InboxItem(id="m2", text="Still there?")),
    script=(Turn(say="Hello to you."),),
    faults=(FaultSpec(kind="http.overloaded", when=1),),
)


def _answers(run_: dict[str, str], answer: Callable[[anthropic.Anthropic, str], str]) -> None:
    client = anthropic.Anthropic(
        base_url=run_["ANTHROPIC_BASE_URL"], api_key="dummy", max_retries=0
    )
    while True:
        with urlopen(run_["HARNESS_INBOX_URL"]) as inbound:
            if inbound.status == 204:
                return
            message = json.load(inbound)
        said = {"text": answer(client, message["text"]), "in_reply_to": message["id"]}
        urlopen(Request(run_["HARNESS_OUTBOX_URL"], json.dumps(said).encode())).close()


def _ask(client: anthropic.Anthropic, text: str) -> str:
    said: Any = [{"role": "user", "content": text}]
    reply = client.messages.create(model="claude-sonnet-5", max_tokens=99, messages=said)
    return str(reply.content[0].text)


def _breaks(client: anthropic.Anthropic, text: str) -> str:
    empty: dict[str, str] = {}
    return empty[_ask(client, text)] if text == "Still there?" else _ask(client, text)


@contextmanager
def _server(answer: Callable[[anthropic.Anthropic, str], str]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, text = 200, ""
            try:
                _answers(json.loads(body), answer)
            except anthropic.APIStatusError as error:
                status, text = error.status_code, str(error)
            except Exception as error:
                status, text = 500, type(error).__name__
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/run"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _played(answer: Callable[[anthropic.Anthropic, str], str]) -> Run:
    with _server(answer) as url:
        return run(OVERLOADED, url)


def test_a_status_after_an_error_of_the_api_is_told_and_the_run_goes_on() -> None:
    played = _played(_ask)
    assert (played.verdict.findings, played.verdict.outcome) == ((), "failed_truthfully")
    kinds = [sending.request.kind for sending in played.history.trace.sendings]
    assert kinds == ["error", "final"]


def test_a_status_after_an_error_of_its_own_is_a_crash() -> None:
    codes = {finding.code for finding in _played(_breaks).verdict.findings}
    assert "target.crashed" in codes
