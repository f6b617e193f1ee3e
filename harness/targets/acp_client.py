"""The client of an agent that speaks ACP, the Agent Client Protocol, on its standard streams.

Only this file knows the protocol: version 1, https://agentclientprotocol.com. The agent is started
once a life. Each message is a prompt of its session; the session is loaded again after a restart.
It uses only the standard library, so it starts anywhere and at once. Its arguments are the words of
the command.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote

ENV = os.environ
FOLDER = Path(ENV.get("HARNESS_SESSION_DIR", "."))
KEPT = FOLDER / "acp-sessions.json"
"""The agent's name for each session: a later life loads them."""

TAKEN_S = 1.0
"""What an agent needs to take in a list of tools that it has asked for."""

TOLD_S = 0.3
"""How long a load is silent that has told the past; some agents tell it after their answer."""

INPUT_S = 0.5
"""What the input of a call may come later than the question about it."""

END_S = 2.0
METHOD_NOT_FOUND = -32601
_BY_NAME = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"
"""A tool in the title of a call: `pay (harness MCP Server)`, `harness_pay`."""

CANCELLED = {"outcome": {"outcome": "cancelled"}}


class Refused(Exception):
    """The agent answered a request with an error."""


class Peer:
    """The agent's process, and JSON-RPC with it, one message a line."""

    def __init__(self, command: list[str], take: Callable[[str, Any], Any]) -> None:
        env = {name: value for name, value in ENV.items() if not name.startswith("HARNESS_")}
        env["HARNESS_SESSION_DIR"] = str(FOLDER)  # by which the run finds its processes
        work = FOLDER / "work"
        work.mkdir(exist_ok=True)
        self.work, self._take, self._is_ending = str(work), take, False
        self._process = subprocess.Popen(
            command, env=env, cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its result. Raises Refused for an error."""
        answers = queue.SimpleQueue[dict[str, Any]]()
        with self._lock:
            number = len(self._waiting)
            self._waiting[number] = answers
        self._write({"id": number, "method": method, "params": params})
        answer = answers.get()
        if "error" in answer:
            error = answer["error"]
            detail = error.get("data")
            raise Refused(" ".join([str(error.get("message")), *([str(detail)] if detail else [])]))
        return answer.get("result") or {}

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._write({"method": method, "params": params})

    def end(self) -> None:
        """End the agent as an editor does that is closed."""
        self._is_ending = True
        with contextlib.suppress(OSError):
            assert self._process.stdin
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=END_S)
        self._process.kill()

    def _write(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError):  # the reader sees that it has ended
            assert self._process.stdin
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _read(self) -> None:
        """Take what the agent says, in its order, until it ends; it ends this program too."""
        assert self._process.stdout
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):  # some agents print a banner first
                message = json.loads(line)
                if isinstance(message, dict):
                    self._taken(message)
        status = self._process.wait()
        if self._is_ending:
            return
        sys.stderr.write(f"the agent ended with status {status}\n")
        sys.stderr.flush()
        os._exit(128 - status if status < 0 else status or 1)

    def _taken(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            if (answers := self._waiting.get(message.get("id", -1))) is not None:
                answers.put(message)
        elif "id" in message:  # an answer may wait for the user, and cancels must come
            threading.Thread(target=self._answer, args=(message,), daemon=True).start()
        else:
            self._take(message["method"], message.get("params") or {})

    def _answer(self, message: dict[str, Any]) -> None:
        result = self._take(message["method"], message.get("params") or {})
        if result is None:
            error = {"code": METHOD_NOT_FOUND, "message": "this client does not offer it"}
            self._write({"id": message["id"], "error": error})
        else:
            self._write({"id": message["id"], "result": result})


class Client:
    """What the user of the agent does: says messages, reads answers, allows calls and cancels."""

    def __init__(self, command: list[str]) -> None:
        self._said: dict[str, list[str]] = {}
        self._cancelled: dict[str, threading.Event] = {}
        self._calls: dict[str, dict[str, Any]] = {}
        self._open: set[str] = set()
        self._told_at = 0.0
        self._peer = Peer(command, self._take)
        self._tools: list[str] = [tool["name"] for tool in _got(ENV["HARNESS_TOOLS_URL"])]
        files = {"readTextFile": False, "writeTextFile": False}
        agent = self._peer.call(
            "initialize", protocolVersion=1, clientCapabilities={"fs": files, "terminal": False}
        )
        self._can: dict[str, Any] = agent.get("agentCapabilities") or {}

    def play(self) -> None:
        """Carry each message to the agent, and its answer to the user."""
        for message in _inbox():
            _post(ENV["HARNESS_OUTBOX_URL"], self._answered(message))
        self._peer.end()

    def _answered(self, message: dict[str, Any]) -> dict[str, Any]:
        named = {"session": message["session"], "in_reply_to": message["id"]}
        try:
            return {**self._prompted(message), **named}
        except Refused as error:
            return {"text": str(error), "kind": "error", **named}

    def _prompted(self, message: dict[str, Any]) -> dict[str, str]:
        session = self._session(message["session"])
        self._said[session], ended = [], threading.Event()
        self._cancelled[session] = threading.Event()
        watch = (message["session"], session, ended)
        threading.Thread(target=self._watch_cancel, args=watch, daemon=True).start()
        try:
            prompt = [{"type": "text", "text": message["text"]}]
            done = self._peer.call("session/prompt", sessionId=session, prompt=prompt)
        finally:
            ended.set()
        text, why = "".join(self._said[session]), str(done.get("stopReason"))
        if why == "end_turn":
            return {"text": text, "kind": "final"}
        if why == "cancelled":
            return {"text": text, "kind": "final", "status": why}
        return {"text": f"{text}\n[{why}]".strip(), "kind": "error", "status": why}

    def _session(self, name: str) -> str:
        """The agent's session of a name: open, loaded from an earlier life, or new."""
        known: dict[str, str] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        if name in known and known[name] in self._open:
            return known[name]
        given = {"cwd": self._peer.work, "mcpServers": [self._server(name)]}
        verb = next((verb for verb, there in self._ways().items() if there), "")
        if name in known and verb:
            self._load(verb, known[name], given)
        else:
            known[name] = str(self._peer.call("session/new", **given)["sessionId"])
            KEPT.write_text(json.dumps(known))
        self._open.add(known[name])
        # An agent opens a session before it asks its MCP servers; its model has no tools till then.
        if self._tools and _got(f"{_of_session('HARNESS_MCP_URL', name)}/listed")["listed"]:
            time.sleep(TAKEN_S)
        return known[name]

    def _load(self, verb: str, session: str, given: dict[str, Any]) -> None:
        """Go back into a session, and wait until its past is told."""
        self._peer.call(verb, sessionId=session, **given)
        until = time.monotonic() + TAKEN_S
        while time.monotonic() < min(until, self._told_at + TOLD_S):
            time.sleep(0.02)

    def _ways(self) -> dict[str, bool]:
        """The ways back into a session. A load tells the whole past again, a resume does not."""
        resumes = (self._can.get("sessionCapabilities") or {}).get("resume") is not None
        return {"session/resume": resumes, "session/load": bool(self._can.get("loadSession"))}

    def _server(self, session: str) -> dict[str, Any]:
        """The scenario's tools, as an MCP server that the agent connects to or starts."""
        if (self._can.get("mcpCapabilities") or {}).get("http"):
            url = _of_session("HARNESS_MCP_URL", session)
            return {"type": "http", "name": "harness", "url": url, "headers": []}
        tools = _of_session("HARNESS_TOOLS_URL", session)
        env = [{"name": "HARNESS_TOOLS_URL", "value": tools}]
        words = ["-m", "harness.transports.mcp_stdio"]
        return {"name": "harness", "command": sys.executable, "args": words, "env": env}

    def _take(self, method: str, params: Any) -> Any:
        """Take a notification, or answer a request; None for a method that is not offered."""
        if method == "session/update":
            self._updated(params.get("sessionId", ""), params.get("update") or {})
        elif method == "session/request_permission":
            return self._permitted(params)
        return None

    def _updated(self, session: str, update: dict[str, Any]) -> None:
        """Collect what the user reads: of a turn, the text after its last call."""
        kind, content = update.get("sessionUpdate"), update.get("content")
        self._told_at = time.monotonic()
        said = self._said.setdefault(session, [])
        if kind == "agent_message_chunk" and isinstance(content, dict):
            said.append(str(content.get("text", "")))
        elif kind in ("tool_call", "tool_call_update"):
            self._show(update)
            if kind == "tool_call":
                said.clear()

    def _show(self, call: dict[str, Any]) -> dict[str, Any]:
        """What the user sees of a call: each update over what came before."""
        shown = self._calls.setdefault(str(call.get("toolCallId")), {})
        shown.update({name: call[name] for name in ("rawInput", "_meta") if call.get(name)})
        shown.setdefault("title", call.get("title") or "")  # a later one may be the input
        return shown

    def _permitted(self, params: dict[str, Any]) -> dict[str, Any]:
        """The user's choice. A cancel answers each open question, as the protocol asks for."""
        call, cancelled = params["toolCall"], self._cancelled[params["sessionId"]]
        answers = queue.SimpleQueue[dict[str, Any]]()
        threading.Thread(target=lambda: answers.put(self._decided(call)), daemon=True).start()
        while not cancelled.is_set():
            with contextlib.suppress(queue.Empty):
                return _chosen(answers.get(timeout=0.05), params["options"])
        return CANCELLED

    def _decided(self, call: dict[str, Any]) -> dict[str, Any]:
        """What the user says to a call; one of the agent's own tools is denied."""
        shown = self._show(call)
        own = (shown.get("_meta") or {}).get("toolName", "")
        words = f"{shown['title']} {own} {call.get('toolCallId')}"
        named = [name for name in self._tools if re.search(_BY_NAME.format(re.escape(name)), words)]
        if not named:
            return {"answer": "deny"}
        until = time.monotonic() + (INPUT_S if "rawInput" in call else 0)
        while not shown.get("rawInput") and time.monotonic() < until:
            time.sleep(0.02)
        # The protocol has no word for another input, and none for a reason.
        tool, given = max(named, key=len), shown.get("rawInput") or call.get("rawInput")
        asked = {"tool": tool, "id": str(call.get("toolCallId")), "input": given, "plain": True}
        try:
            answer: dict[str, Any] = _post(ENV["HARNESS_APPROVALS_URL"], asked)
        except (OSError, HTTPException):  # the channel to the user fails
            return {"answer": "expired"}
        return answer

    def _watch_cancel(self, name: str, session: str, ended: threading.Event) -> None:
        url = f"{ENV['HARNESS_CANCELLED_URL']}?wait=true&session={quote(name, safe='')}"
        while not ended.is_set():
            with contextlib.suppress(OSError):
                if _got(url)["cancelled"] and not ended.is_set():
                    self._cancelled[session].set()
                    return self._peer.tell("session/cancel", sessionId=session)
        return None


def _chosen(answer: dict[str, Any], options: list[dict[str, Any]]) -> dict[str, Any]:
    """The option of the agent that says what the user said; cancelled where it has none."""
    if answer["answer"] == "allow":
        kinds = ["allow_always", "allow_once"] if answer.get("always") else ["allow_once"]
    else:
        kinds = ["reject_once", "reject_always"] if answer["answer"] == "deny" else []
    for kind in kinds:
        for option in options:
            if option.get("kind") == kind:
                return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
    return CANCELLED


def _of_session(seam: str, session: str) -> str:
    """The URL of a seam, with the session's name: what is asked there belongs to the session."""
    base, _, path = ENV[seam].partition("/harness/")
    return f"{base}/s/{quote(session, safe='')}/harness/{path}"


def _inbox() -> Iterator[dict[str, Any]]:
    """Yield the messages of the run."""
    while True:
        with urllib.request.urlopen(ENV["HARNESS_INBOX_URL"]) as got:
            if got.status == 204:
                return
            if got.status == 200:
                yield json.loads(got.read())


def _got(url: str) -> Any:
    with urllib.request.urlopen(url) as answer:
        return json.loads(answer.read())


def _post(url: str, value: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        url, json.dumps(value).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        body = answer.read()
    return json.loads(body) if body else None


if __name__ == "__main__":
    try:
        Client(sys.argv[1:]).play()
    except (Refused, HTTPError) as error:
        sys.exit(f"the agent refuses the start: {error}")
