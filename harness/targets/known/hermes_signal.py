"""hermes-agent behind a messenger: messages enter the queue of its gateway while a turn runs.

Only this file knows the daemon of signal-cli, to which the gateway's adapter for Signal speaks. Of
all its adapters that one asks for a server on loopback, and it has the queue that all chats share.
The API server answers each request by itself, and its webhooks make a session of each delivery:
neither has a queue. This program is that daemon. It pushes the messages of the run as events, and
what the gateway sends is what the user reads.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.targets.known.hermes_gateway import Process, inbox, post

ACCOUNT = "+15550000000"
"""The number of the agent. It is its home channel too, else the first reply is about that."""

STOP = "/stop"
"""The command by which a user of a chat cancels the turn."""


def main() -> int:
    """Serve the run; the exit status is 0, or that of a gateway that ended by itself."""
    daemon = Daemon()
    gateway = Process(sys.argv[1], daemon.environment())
    ends = threading.Thread(target=_end_with, args=(gateway, daemon), daemon=True)
    try:
        gateway.wait_until(daemon.is_read.is_set, "read its messages")
        ends.start()
        for message in inbox("?cancels=true"):
            daemon.push(message)
        return 0
    finally:
        daemon.has_ended = True
        gateway.stop()


def _end_with(gateway: Process, daemon: Daemon) -> None:
    """End this program where the gateway ends, since a reader that waits would not see it."""
    gateway.process.wait()
    if not daemon.has_ended:
        os._exit(gateway.status())


class Daemon:
    """A daemon of signal-cli: its events, and the calls of its client."""

    def __init__(self) -> None:
        self.is_read = threading.Event()
        self.has_ended = False
        self._events: queue.Queue[tuple[bytes, threading.Event]] = queue.Queue()
        self._sessions: dict[str, str] = {}
        self._stopped: set[str] = set()
        self._last_ms = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def environment(self) -> dict[str, str]:
        """The variables by which the gateway finds this daemon."""
        return {
            "SIGNAL_HTTP_URL": f"http://127.0.0.1:{self._server.server_port}",
            "SIGNAL_ACCOUNT": ACCOUNT,
            "SIGNAL_HOME_CHANNEL": ACCOUNT,
            "SIGNAL_ALLOW_ALL_USERS": "true",
        }

    def push(self, message: dict[str, Any]) -> None:
        """Send a message, or a cancel as its command; returns once the gateway has it."""
        session, text = message["session"], message["text"]
        if message["kind"] == "disconnect":  # a messenger does not tell when a user leaves
            return
        if message["kind"] == "cancel":
            text = STOP
            self._stopped.add(session)
        written = threading.Event()
        self._events.put((self._event(session, text), written))
        written.wait()

    def _event(self, session: str, text: str) -> bytes:
        number, at_ms = _number(session), self._now_ms()
        self._sessions[number] = session
        said = {"timestamp": at_ms, "message": text}
        envelope = {"sourceNumber": number, "timestamp": at_ms, "dataMessage": said}
        return f"data: {json.dumps({'envelope': envelope})}\n\n".encode()

    def _now_ms(self) -> int:
        """A time of its own for each message, because Signal knows a message by it."""
        self._last_ms = max(self._last_ms + 1, time.time_ns() // 1_000_000)
        return self._last_ms

    def events(self) -> Any:
        """The events of a client, each once it is to be written."""
        self.is_read.set()
        while True:
            data, written = self._events.get()
            yield data
            written.set()

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a call. Reactions and typing say nothing that the user waits for."""
        if method == "send":
            self._say(params["recipient"][0], params["message"])
            return {"timestamp": self._now_ms(), "results": [{"type": "SUCCESS"}]}
        return [] if method == "listContacts" else {}

    def _say(self, number: str, text: str) -> None:
        """Pass a text on. It names no message, as no text in a chat does."""
        session = self._sessions.get(number)
        if session is None:  # it tells the home channel of a restart
            return
        said = {"kind": "final", "text": text, "session": session}
        if session in self._stopped:
            self._stopped.remove(session)
            said["status"] = "cancelled"
        post(said)


def _number(session: str) -> str:
    """The number of a session's user: the same one after a restart."""
    return f"+1556{zlib.crc32(session.encode()) % 10**7:07}"


def _handler(daemon: Daemon) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            if self.path.startswith("/api/v1/events"):
                for event in daemon.events():
                    self.wfile.write(event)
                    self.wfile.flush()

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            result = daemon.call(asked["method"], asked.get("params") or {})
            data = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None: ...

    return Handler


if __name__ == "__main__":
    sys.exit(main())
