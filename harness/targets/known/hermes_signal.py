"""hermes-agent behind a messenger: messages enter the queue of its gateway while a turn runs.

Only this file knows the daemon of signal-cli, to which the gateway's adapter for Signal speaks. Of
all its adapters that one asks for a server on loopback, and it has the queue that all chats share.
The API server answers each request by itself, and its webhooks make a session of each delivery:
neither has a queue. This program is that daemon. It pushes the messages of the run as events, and
what the gateway sends is what the user reads.

A text does not say whether it is the reply or a notice ("compressing ..."). It is the reply if it
is the last one before the turn's end: the mark that the adapter puts on the message that is done,
or the begin of the next turn, which the plug-in tells.

A question about a call is a text too, and is answered by a command. It always means the oldest
question of the chat. So the questions of a chat are put to the user of the run one by one.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import sys
import threading
import time
import urllib.request
import zlib
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harness.targets.known.hermes_gateway import Process, inbox, post, posted

ACCOUNT = "+15550000000"
"""The number of the agent. It is its home channel too, else the first reply is about that."""

NEIGHBOUR = "+15550000001"
"""Who asks for help first. While the gateway starts it keeps messages apart, and one that comes
later may overtake them; its answer tells that this is over."""

QUESTION_S = 20.0
"""How long the text of a question, or of its answer's confirmation, may take."""

PLUGIN = Path(__file__).with_name("hermes_plugin.py")
PREFIX = "mcp__harness__"
STOP = "/stop"
"""The command by which a user of a chat cancels the turn."""


def main() -> int:
    """Serve the run; the exit status is 0, or that of a gateway that ended by itself."""
    daemon = Daemon()
    _install(Path(os.environ["HERMES_HOME"], "plugins", "harness"))
    gateway = Process(sys.argv[1], daemon.environment())
    ends = threading.Thread(target=_end_with, args=(gateway, daemon), daemon=True)
    try:
        gateway.wait_until(daemon.is_read.is_set, "read its messages")
        daemon.write(NEIGHBOUR, "/help")
        gateway.wait_until(daemon.is_answered.is_set, "answer a message")
        ends.start()
        for message in inbox("?cancels=true"):
            daemon.push(message)
        return 0
    finally:
        daemon.has_ended = True
        gateway.stop()


def _install(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(PLUGIN, folder / "__init__.py")
    (folder / "plugin.yaml").write_text("name: harness\nversion: 1.0.0\n")
    with urllib.request.urlopen(os.environ["HARNESS_TOOLS_URL"]) as got:
        names = [tool["name"] for tool in json.loads(got.read()) if tool.get("needs_approval")]
    gated = {PREFIX + name: name for name in names}
    (folder / "gated.json").write_text(json.dumps(gated), "utf-8")


def _end_with(gateway: Process, daemon: Daemon) -> None:
    """End this program where the gateway ends, since a reader that waits would not see it."""
    gateway.process.wait()
    if not daemon.has_ended:
        os._exit(gateway.status())


class Daemon:
    """A daemon of signal-cli: its events, and the calls of its client."""

    def __init__(self) -> None:
        self.is_read, self.is_answered = threading.Event(), threading.Event()
        self.has_ended = False
        self._events: queue.Queue[tuple[bytes, threading.Event]] = queue.Queue()
        self._sessions: dict[str, str] = {}
        self._stopped: set[str] = set()
        self._held: dict[str, str] = {}
        self._notices: Counter[str] = Counter()
        self._asking: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._heard = threading.Condition()
        self._last_ms = 0
        self._lock = threading.RLock()
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
        number = _number(session)
        self._sessions[number] = session
        self.write(number, text)

    def write(self, number: str, text: str) -> None:
        """Push a text of the user with this number."""
        written, at_ms = threading.Event(), self._now_ms()
        said = {"timestamp": at_ms, "message": text}
        envelope = {"sourceNumber": number, "timestamp": at_ms, "dataMessage": said}
        data = f"data: {json.dumps({'envelope': envelope})}\n\n".encode()
        self._events.put((data, written))
        written.wait()

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
        """The result of a call of the adapter."""
        with self._lock:
            if method == "send":
                self._hear(params["recipient"][0], params["message"])
                return {"timestamp": self._now_ms(), "results": [{"type": "SUCCESS"}]}
            if method == "sendReaction" and params.get("remove"):  # "at work" goes, "done" comes
                self.end_turn(params["recipient"][0])
        return [] if method == "listContacts" else {}

    def end_turn(self, number: str) -> None:
        """The turn of this user has ended, or the next one begins: what was said last is its reply.

        It names no message, as no text in a chat does.
        """
        with self._lock:
            if (text := self._held.pop(number, None)) is not None:
                self._say(number, text, "final")

    def ask(self, number: str, asked: dict[str, Any]) -> None:
        """The gateway is about to ask this user about a call; the answer is a command."""
        self._notices[number] += 1  # the text of the question
        threading.Thread(target=self._answer, args=(number, asked), daemon=True).start()

    def _answer(self, number: str, asked: dict[str, Any]) -> None:
        with self._asking[number]:
            told = {**asked, "session": self._sessions[number]}
            said = posted(os.environ["HARNESS_APPROVALS_URL"], told)
            with self._heard:  # a user answers what he has read
                self._heard.wait_for(lambda: not self._notices[number], QUESTION_S)
            if said["answer"] == "expired":
                return
            self._notices[number] += 1  # the confirmation of the command
            self.write(number, _command(said, asked))
            with self._heard:
                self._heard.wait_for(lambda: not self._notices[number], QUESTION_S)

    def _hear(self, number: str, text: str) -> None:
        if number == NEIGHBOUR:
            self.is_answered.set()
        if number not in self._sessions:  # it tells the home channel of a restart
            return
        if self._notices[number]:
            self._say(number, text, "notice")
            with self._heard:
                self._notices[number] -= 1
                self._heard.notify_all()
            return
        session = self._sessions[number]
        if session in self._stopped:
            self._stopped.remove(session)
            self._say(number, text, "final", status="cancelled")
            return
        if (earlier := self._held.get(number)) is not None:
            self._say(number, earlier, "notice")
        self._held[number] = text

    def _say(self, number: str, text: str, kind: str, **more: str) -> None:
        post({"kind": kind, "text": text, "session": self._sessions[number], **more})


def _command(said: dict[str, Any], asked: dict[str, Any]) -> str:
    """What a user types who decides so; another input can only be told as the reason of a no."""
    if said["answer"] != "allow" or said["id"] != asked["id"]:
        return f"/deny {said.get('reason') or ''}".strip()
    if said["input"] != asked["input"]:
        return f"/deny use {json.dumps(said['input'])}"
    return "/approve session" if said.get("always") else "/approve"


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
            result: Any = None
            if self.path == "/turn":
                daemon.end_turn(asked["number"])
            elif self.path == "/ask":
                daemon.ask(**asked)
            else:
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
