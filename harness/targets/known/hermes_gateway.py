"""hermes-agent as a chat service: its gateway makes a new agent for each message.

Only this file knows the HTTP API of that gateway. One process stays for all messages of a run; for
each message it loads the session's history from `state.db`. The driver starts this program with the
seams in its environment; it uses only the standard library.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ENV = os.environ
KEY = "dummy-key-of-the-harness"
START_S = 180.0
STOP_S = 10.0
SEED = Path(__file__).with_name("hermes_seed.py")


def main() -> int:
    """Serve the run; the exit status is 0, or that of a gateway that ended by itself."""
    program = sys.argv[1]
    _seed(program)
    gateway = Gateway(program)
    try:
        for message in inbox():
            if message["kind"] == "message" and not gateway.answer(message):
                return gateway.status()
        return 0
    finally:
        gateway.stop()


def _seed(program: str) -> None:
    """Write the stored session into `state.db`, with the program's own classes and interpreter."""
    seed = Path(ENV["HARNESS_SESSION_DIR"], "seed.jsonl")
    if seed.exists() and not Path(ENV["HERMES_HOME"], "state.db").exists():
        python = Path(shutil.which(program) or program).resolve().with_name("python")
        subprocess.run([str(python), str(SEED), str(seed)], check=True)


class Process:
    """The process `hermes gateway run`, with `more` in its environment for its platform."""

    def __init__(self, program: str, more: dict[str, str]) -> None:
        env = {name: value for name, value in ENV.items() if not name.startswith("HARNESS_")}
        env["HARNESS_SESSION_DIR"] = ENV["HARNESS_SESSION_DIR"]
        command = [program, "gateway", "run", "--replace"]
        self.process = subprocess.Popen(command, env=env | more, stdin=subprocess.DEVNULL)

    def wait_until(self, answers: Callable[[], bool], what: str) -> None:
        """Wait for the gateway's platform; ends this program where it does not come up."""
        until = time.monotonic() + START_S
        while time.monotonic() < until and self.process.poll() is None:
            if answers():
                return
            time.sleep(0.05)
        sys.exit(f"the gateway of hermes does not {what}: is the extra `sms` (aiohttp) installed?")

    def status(self) -> int:
        """The exit status of a gateway that no longer answers."""
        try:
            code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            return 1
        return 128 - code if code < 0 else code or 1

    def stop(self) -> None:
        """End the gateway as its user would."""
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Gateway(Process):
    """A gateway with its API server, and the requests to it."""

    def __init__(self, program: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        more = {
            "API_SERVER_ENABLED": "true",
            "API_SERVER_KEY": KEY,
            "API_SERVER_HOST": "127.0.0.1",
            "API_SERVER_PORT": str(self.port),
        }
        super().__init__(program, more)
        self.ids = Path(ENV["HERMES_HOME"], "harness-sessions.json")
        self.said: list[dict[str, str]] = []
        self.wait_until(self._is_healthy, "answer")

    def _is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                return True
        except OSError:
            return False

    def answer(self, message: dict[str, Any]) -> bool:
        """Send a message, and pass the answer on; False if the gateway has ended."""
        session = message["session"]
        known = json.loads(self.ids.read_text()) if self.ids.exists() else {}
        asked = {
            "model": "hermes-agent",
            "messages": [{"role": "user", "content": message["text"]}],
        }
        headers = {
            "authorization": f"Bearer {KEY}",
            "content-type": "application/json",
            "x-hermes-session-id": known.get(session, session),
            "idempotency-key": message["id"],
        }
        url = f"http://127.0.0.1:{self.port}/v1/chat/completions"
        request = urllib.request.Request(url, json.dumps(asked).encode(), headers)
        try:
            with _opened(request) as got:
                value, now = json.loads(got.read()), got.headers.get("x-hermes-session-id")
        except (OSError, http.client.HTTPException):
            return False
        if now:
            self.ids.write_text(json.dumps({**known, session: now}))
        said = {**_outcome(value), "session": session, "in_reply_to": message["id"]}
        if said not in self.said:  # a redelivered message gets its earlier answer
            post(said)
            self.said.append(said)
        return True


def _opened(request: urllib.request.Request) -> Any:
    """Return the response, also one with an error status."""
    try:
        return urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        return error


def _outcome(value: dict[str, Any]) -> dict[str, str]:
    """Return the text of an answer, and whether hermes marks it as an error."""
    if "error" in value:
        return {"kind": "error", "text": str(value["error"].get("message") or value["error"])}
    (choice,) = value["choices"]
    text = choice["message"]["content"] or ""
    if choice["finish_reason"] == "stop":
        return {"kind": "final", "text": text}
    why = value.get("hermes", {}).get("error") or choice["finish_reason"]
    return {"kind": "error", "text": f"{text}\n[{why}]".strip()}


def inbox(query: str = "") -> Iterator[dict[str, Any]]:
    """The messages of the run, each at its moment; `query` is that of the question."""
    while True:
        with urllib.request.urlopen(ENV["HARNESS_INBOX_URL"] + query) as got:
            if got.status == 204:
                return
            if got.status == 200:
                yield json.loads(got.read())


def post(value: dict[str, Any]) -> None:
    """Say something to the user of the run."""
    posted(ENV["HARNESS_OUTBOX_URL"], value)


def posted(url: str, value: dict[str, Any]) -> Any:
    """The answer of a seam, None without one."""
    data, kind = json.dumps(value).encode(), {"content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, kind)) as got:
        text = got.read()
    return json.loads(text) if text else None


if __name__ == "__main__":
    sys.exit(main())
