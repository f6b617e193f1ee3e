"""A small world for an agent that is a program: the verbs of the contract on one loopback server.

The model, the tools and the user are scripted; everything that the agent sends is kept. It knows
nothing of the harness's own transports, so an example that passes here speaks the contract and not
only our implementation of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
RUN_TIMEOUT_S = 60

Reply = tuple[int, dict[str, str], bytes]


def _message(blocks: list[dict[str, Any]], stop: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": blocks, "stop_reason": stop}


def say(text: str, stop: str = "end_turn") -> dict[str, Any]:
    """A reply of plain text."""
    return _message([{"type": "text", "text": text}], stop)


def use(*calls: tuple[str, dict[str, Any]], stop: str = "tool_use", id: str = "") -> dict[str, Any]:
    """A reply with tool calls `(name, input)`; the world gives them ids unless `id` does."""
    blocks = [{"type": "tool_use", "id": id, "name": name, "input": given} for name, given in calls]
    return _message(blocks, stop)


def fail(status: int, kind: str, text: str, **headers: str) -> Reply:
    """An error in the API's envelope; keyword `retry_after` becomes the header `retry-after`."""
    body = {"type": "error", "error": {"type": kind, "message": text}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps(body).encode()


TOO_LONG = fail(400, "invalid_request_error", "prompt is too long: 3000 tokens > 2000 maximum")


def events(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The stream of a reply: text and tool input arrive in two pieces each."""
    out: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "content": []}}]
    for index, block in enumerate(message["content"]):
        key, kind, piece = (
            ("text", "text_delta", "text")
            if block["type"] == "text"
            else ("input", "input_json_delta", "partial_json")
        )
        whole = block[key] if key == "text" else json.dumps(block[key], ensure_ascii=False)
        empty: Any = "" if key == "text" else {}
        start = {**block, key: empty}
        out.append({"type": "content_block_start", "index": index, "content_block": start})
        half = len(whole) // 2
        for part in (whole[:half], whole[half:]):
            delta = {"type": kind, piece: part}
            out.append({"type": "content_block_delta", "index": index, "delta": delta})
        out.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": message["stop_reason"]}
    return [*out, {"type": "message_delta", "delta": stop}, {"type": "message_stop"}]


def sse(stream: list[dict[str, Any]], eol: str = "\n") -> bytes:
    """The bytes of a stream of events."""
    lines = (
        f"event: {event['type']}{eol}data: {json.dumps(event, ensure_ascii=False)}{eol}{eol}"
        for event in stream
    )
    return "".join(lines).encode()


def sides(request: dict[str, Any]) -> list[str]:
    """The roles of a request's messages."""
    return [message["role"] for message in request["messages"]]


def results_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool results in the last message of a request."""
    return [b for b in request["messages"][-1]["content"] if b["type"] == "tool_result"]


def text_row(role: str, text: str) -> dict[str, Any]:
    """A stored row of plain text."""
    return {"role": role, "blocks": [{"type": "text", "text": text}]}


def assert_paired(request: dict[str, Any]) -> None:
    """Sides alternate, user first and last; each call has its one result in the next message."""
    assert sides(request) == ["user", "assistant"] * (len(request["messages"]) // 2) + ["user"]
    for before, after in pairwise(request["messages"]):
        calls = [b["id"] for b in before["content"] if b["type"] == "tool_use"]
        results = [b["tool_use_id"] for b in after["content"] if b["type"] == "tool_result"]
        assert calls == results


class World:
    """What the agent meets, and what it did there."""

    def __init__(self, folder: Path) -> None:
        self.session_dir = folder
        self.script: list[Any] = []  # replies and errors, in order
        self.tools: list[dict[str, Any]] = []
        self.tool: Callable[[str, Any], tuple[int, dict[str, Any]]] = lambda name, given: (
            200,
            {"content": "done", "is_error": False},
        )
        self.inbox: list[dict[str, Any] | int] = []
        self.requests: list[dict[str, Any]] = []
        self.purposes: list[str] = []
        self.rows_at_request: list[list[dict[str, Any]]] = []
        self.calls: list[tuple[str, Any]] = []
        self.outbox: list[dict[str, Any]] = []
        self.outbox_refusals = 0
        self.asked = threading.Event()
        self.rows_at_delivery: list[list[dict[str, Any]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def offer(self, name: str, *required: str) -> None:
        """Offers a tool whose schema requires these parameters."""
        schema = {"type": "object", "properties": {}, "required": list(required)}
        self.tools.append({"name": name, "description": name, "input_schema": schema})

    def seed(self, *rows: dict[str, Any]) -> None:
        """Lays down the session to begin with."""
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (self.session_dir / "seed.jsonl").write_text(lines)

    def write(self, text: str, id: str = "m1") -> None:
        """The user writes a message."""
        message = {"id": id, "session": "main", "kind": "message", "text": text, "at_ms": 0}
        self.inbox.append(message)

    def rows(self) -> list[dict[str, Any]]:
        """What is in the session file now."""
        path = self.session_dir / "session.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def start(self, **options: Any) -> subprocess.Popen[str]:
        """Starts the agent in the scrubbed environment of the contract."""
        base = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.session_dir)}
        urls = {f"HARNESS_{n.upper()}_URL": f"{self.url}/{n}" for n in ("inbox", "outbox", "tools")}
        names = {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "dummy",
            "HARNESS_SESSION_DIR": str(self.session_dir),
            "HARNESS_OPTIONS": json.dumps(options),
            "HARNESS_WIRE": "anthropic",
        }
        command = ["node", str(EXAMPLES / "node_agent.mjs")]
        return subprocess.Popen(command, env={**base, **urls, **names}, stderr=-1, text=True)

    def run(self, **options: Any) -> None:
        """Runs the agent until it ends by itself, without a crash."""
        process = self.start(**options)
        _, errors = process.communicate(timeout=RUN_TIMEOUT_S)
        assert process.returncode == 0, errors

    def _answer_model(self, headers: Any, request: dict[str, Any]) -> Reply:
        assert headers["anthropic-version"] == "2023-06-01"
        assert headers["x-api-key"] == "dummy"
        self.rows_at_request.append(self.rows())
        self.requests.append(request)
        self.purposes.append(headers.get("x-harness-purpose", "main"))
        if not self.script:
            return fail(400, "invalid_request_error", "the script has ended")
        turn = self.script.pop(0)
        if isinstance(turn, tuple):
            return turn
        for n, block in enumerate(turn["content"]):
            if block.get("id") == "":
                block["id"] = f"toolu_{len(self.requests)}_{n}"
        if request.get("stream"):
            return 200, {"content-type": "text/event-stream"}, sse(events(turn))
        return 200, {}, json.dumps(turn).encode()

    def _get(self, path: str) -> tuple[int, Any]:
        if path == "/tools":
            return 200, self.tools
        self.asked.set()
        turn = self.inbox.pop(0) if self.inbox else 204
        return (turn, None) if isinstance(turn, int) else (200, turn)

    def _post(self, path: str, headers: Any, value: Any) -> Reply:
        if path == "/v1/messages":
            return self._answer_model(headers, value)
        if path == "/outbox":
            if self.outbox_refusals > 0:
                self.outbox_refusals -= 1
                return 503, {}, b""
            self.rows_at_delivery.append(self.rows())
            self.outbox.append(value)
            return 204, {}, b""
        name = path.removeprefix("/tools/")
        self.calls.append((name, value["input"]))
        status, result = self.tool(name, value["input"])
        return status, {}, json.dumps(result).encode()

    def _handler(world) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, value = world._get(self.path)
                self._send(status, {}, b"" if value is None else json.dumps(value).encode())

            def do_POST(self) -> None:
                value = json.loads(self.rfile.read(int(self.headers["content-length"])))
                self._send(*world._post(self.path, self.headers, value))

            def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, text in headers.items():
                    self.send_header(name, text)
                if status != 204:
                    self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        return Handler
