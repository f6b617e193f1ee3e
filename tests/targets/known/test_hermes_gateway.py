"""What is said to the gateway of hermes, and what becomes of its answers. A script plays it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.targets.known import hermes_gateway
from harness.targets.known.hermes_gateway import _outcome

pytestmark = pytest.mark.real

HERMES = """#!{python}
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self._say({{"status": "ok"}})

    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = said["messages"][-1]["content"]
        if text == "die":
            os.kill(os.getpid(), 9)
        told = [text, self.headers["x-hermes-session-id"], self.headers["idempotency-key"]]
        choice = {{"message": {{"content": json.dumps(told)}}, "finish_reason": "stop"}}
        self._say({{"id": "answer to " + told[2], "choices": [choice]}})

    def _say(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.send_header("x-hermes-session-id", "child")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_): ...

assert sys.argv[1:] == ["gateway", "run", "--replace"]
HTTPServer(("127.0.0.1", int(os.environ["API_SERVER_PORT"])), Handler).serve_forever()
"""


class Seams:
    """An inbox and an outbox. The inbox ends once that many replies have come.

    There is one tool, for which the user's answer is `answer`.
    """

    def __init__(
        self, messages: list[dict[str, str]], replies: int = 0, answer: Any = None
    ) -> None:
        self.sent: list[dict[str, Any]] = []
        self.owed = threading.Semaphore(0)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/tools":
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(b'[{"name": "pay", "needs_approval": true}, {"name": "look"}]')
                    return
                message = messages.pop(0) if messages else None
                for _ in range(0 if message else replies):
                    outer.owed.acquire(timeout=60)
                self.send_response(200 if message else 204)
                self.end_headers()
                self.wfile.write(json.dumps(message).encode() if message else b"")

            def do_POST(self) -> None:
                size_bytes = int(self.headers["content-length"])
                said = json.loads(self.rfile.read(size_bytes))
                if self.path == "/ask":
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(json.dumps(answer).encode())
                    return
                outer.sent.append(said)
                self.send_response(204)
                self.end_headers()
                outer.owed.release()

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Serve no more."""
        self.server.shutdown()
        self.server.server_close()


def _played(folder: Path, *messages: dict[str, str]) -> tuple[list[dict[str, Any]], int]:
    program = folder / "hermes"
    program.write_text(HERMES.format(python=sys.executable))
    program.chmod(0o755)
    seams = Seams([{"session": "main", "kind": "message", **message} for message in messages])
    env = {**os.environ, "HARNESS_SESSION_DIR": str(folder), "HERMES_HOME": str(folder),
           "HARNESS_INBOX_URL": seams.url, "HARNESS_OUTBOX_URL": seams.url}  # fmt: skip
    try:
        command = [sys.executable, "-I", str(hermes_gateway.__file__), str(program)]
        return seams.sent, subprocess.run(command, env=env, check=False, timeout=120).returncode
    finally:
        seams.close()


def test_a_session_is_followed_and_an_answer_is_passed_on_once(tmp_path: Path) -> None:
    twice = {"id": "m2", "text": "Again"}
    sent, status = _played(tmp_path, {"id": "m1", "text": "Hello"}, twice, twice)
    assert status == 0
    assert [each["in_reply_to"] for each in sent] == ["m1", "m2"]
    assert json.loads(sent[0]["text"]) == ["Hello", "main", "m1"]
    assert json.loads(sent[1]["text"]) == ["Again", "child", "m2"]


def test_a_gateway_that_a_signal_ends_has_crashed(tmp_path: Path) -> None:
    assert _played(tmp_path, {"id": "m1", "text": "die"}) == ([], 137)


def test_what_hermes_calls_an_error_is_one() -> None:
    failed = {"error": {"message": "no answer"}}
    cut: dict[str, Any] = {
        "choices": [{"message": {"content": "Half"}, "finish_reason": "length"}],
        "hermes": {"error": "truncated"},
    }
    assert _outcome(failed) == {"kind": "error", "text": "no answer"}
    assert _outcome(cut) == {"kind": "error", "text": "Half\n[truncated]"}
