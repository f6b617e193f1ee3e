"""The program in front of an agent that knows nothing of a run: a command, or a chat endpoint.

A command with `{text}` is started for each message, and what it prints is read. With the option
`chat` it is a server that is started once a run, and each message is posted to it. Where the page
of the user keeps the conversation, `messages` or `ui_messages` posts all of it. An answer is looked
for under the usual names alone: where it stands under another, the run ends with the option that
the user can give. It uses only the standard library, so it starts anywhere and at once. Its
arguments are the words of the command; its options are those of the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError

ENV = os.environ
OPTIONS: dict[str, Any] = json.loads(ENV.get("HARNESS_OPTIONS") or "{}")
REPLIES = ("reply", "answer", "response", "text", "output", "content", "message", "delta")
"""The usual names of the field with the answer."""

CRASHES = ("Traceback (most recent call last)", "\nNode.js v", "panic: ", "panicked at")
"""Signs of an error that the program did not catch; another failure is told to its user."""

START_S, ENDING_S, TEXT_MAX = 60.0, 2.0, 4000


def filled(words: list[str], **named: str) -> list[str]:
    """The words of a command with `{model}`, the URL of the model, and what else is named."""
    named["model"] = ENV["ANTHROPIC_BASE_URL"]
    for name, value in named.items():
        words = [word.replace(f"{{{name}}}", value) for word in words]
    return words


def asked(words: list[str], text: str) -> dict[str, str]:
    """What a command answers to a text."""
    done = subprocess.run([word.replace("{text}", text) for word in filled(words)],
                          stdin=subprocess.DEVNULL, capture_output=True)  # fmt: skip
    said, error = (out.decode("utf-8", "replace").strip() for out in (done.stdout, done.stderr))
    if done.returncode < 0 or any(mark in f"\n{error}" for mark in CRASHES):
        sys.stderr.write(error[-TEXT_MAX:])
        sys.exit(128 - done.returncode if done.returncode < 0 else done.returncode or 1)
    if done.returncode:
        return {"text": (error or said)[-TEXT_MAX:], "kind": "error"}
    return {"text": said}


class Endpoint:
    """A server that is started for the run, with its port in `{port}` and in PORT."""

    def __init__(self, words: list[str]) -> None:
        self.port = int(OPTIONS.get("port") or _free_port())
        self.url = f"http://127.0.0.1:{self.port}{OPTIONS['chat']}"
        self.child = subprocess.Popen(
            filled(words, port=str(self.port)), stdin=subprocess.DEVNULL,
            env={**ENV, "PORT": str(self.port)},
        )  # fmt: skip
        self._form = next((name for name in ("messages", "ui_messages") if name in OPTIONS), "")
        self._said: dict[str, list[dict[str, Any]]] = {}
        self._wait()

    def _wait(self) -> None:
        for _ in range(int(START_S / 0.05)):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            if self.child.poll() is not None:
                sys.exit(self.child.returncode or "the server ended before its port was open")
            time.sleep(0.05)
        sys.exit(f"no server on port {self.port} after {START_S:g} s: name its port with ?port=")

    def ask(self, message: dict[str, Any]) -> dict[str, str]:
        """What the endpoint answers; a status of an error is an error that the user is told."""
        body = self._body(message)
        request = urllib.request.Request(self.url, json.dumps(body).encode(),
                                         {"content-type": "application/json"})  # fmt: skip
        try:
            with urllib.request.urlopen(request) as response:
                kind = response.headers.get_content_type()
                answer = said(response.read().decode("utf-8", "replace"), kind)
            self._add(message["session"], "assistant", answer)
            return {"text": answer}
        except HTTPError as error:
            text = error.read().decode("utf-8", "replace")[-TEXT_MAX:]
            # These say that the address or the fields are wrong: no later message would do better.
            # Another status is an answer of the agent, which the checks judge.
            if error.code in (404, 405, 415, 422):
                sys.exit(f"POST {self.url} with {sorted(body)} is refused: {error.code} {text}")
            self._take_back(message["session"])
            return {"text": text or str(error), "kind": "error"}
        except (OSError, HTTPException) as error:
            self._say_if_ended()
            self._take_back(message["session"])
            return {"text": f"the server sent no answer: {error}", "kind": "error"}

    def _body(self, message: dict[str, Any]) -> dict[str, Any]:
        """The text of a message, or the conversation up to it, with what else is named."""
        named = OPTIONS if self._form else {"text": "text", **OPTIONS}
        body = {str(named[key]): message[key] for key in ("text", "session", "id") if key in named}
        if self._form:
            self._add(message["session"], "user", message["text"])
            body[str(OPTIONS[self._form])] = self._said[message["session"]]
        return body

    def _add(self, session: str, role: str, text: str) -> None:
        """Add a message to its session, where the page of the user keeps the conversation."""
        rows = self._said.setdefault(session, [])
        if self._form == "ui_messages":  # those of the AI SDK's `useChat`
            parts = [{"type": "text", "text": text}]
            rows.append({"id": f"{session}-{len(rows) + 1}", "role": role, "parts": parts})
        elif self._form:
            rows.append({"role": role, "content": text})

    def _take_back(self, session: str) -> None:
        """Leave out a question that failed: the user was told so, and no answer follows it."""
        del self._said.get(session, [])[-1:]

    def _say_if_ended(self) -> None:
        """End as the server did. Its socket closes before its process ends: wait a little."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.child.wait(timeout=ENDING_S)
            sys.stderr.write(f"the server ended with status {status} in POST {self.url}\n")
            sys.exit(128 - status if status < 0 else status or 1)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def said(text: str, kind: str = "application/json") -> str:
    """The answer in a body: a JSON value, a text, or the pieces of a stream."""
    if kind == "text/event-stream":
        data = [
            line[5:].removeprefix(" ") for line in text.splitlines() if line.startswith("data:")
        ]
        return "".join(_piece(each) for each in data if each != "[DONE]")
    if kind == "application/x-ndjson":
        return "".join(map(_piece, text.splitlines()))
    if kind != "application/json":  # a Go server that sets no type sends JSON as text/plain
        return _of_object(text) or text
    value = json.loads(text)
    if (found := _picked(value)) is None:
        keys = sorted(value) if isinstance(value, dict) else type(value).__name__
        sys.exit(f"no answer in {keys}: name its field with ?reply=")
    return found


def _of_object(text: str) -> str | None:
    try:
        return _picked(json.loads(text)) if text.startswith("{") else None
    except ValueError:
        return None


def _piece(text: str) -> str:
    try:
        return _picked(json.loads(text)) or ""
    except ValueError:
        return text


def _picked(value: Any) -> str | None:
    """The text of a value: of the field that the user names (`a.b`), else the first usual one."""
    if isinstance(value, str):
        return value
    paths = [str(OPTIONS["reply"])] if "reply" in OPTIONS else REPLIES
    for path in paths:
        found: Any = value
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        if isinstance(found, str):
            return found
    return None


def inbox() -> Iterator[dict[str, Any]]:
    """Yield the messages of the run."""
    while True:
        with urllib.request.urlopen(ENV["HARNESS_INBOX_URL"]) as got:
            if got.status == 204:
                return
            if got.status == 200:
                yield json.loads(got.read())


def main(words: list[str]) -> None:
    """Carry each message to the agent, and its answer to the user."""
    server = Endpoint(words) if "chat" in OPTIONS else None
    for message in inbox():
        answer = server.ask(message) if server else asked(words, message["text"])
        body = {**answer, "session": message["session"], "in_reply_to": message["id"]}
        urllib.request.urlopen(
            urllib.request.Request(ENV["HARNESS_OUTBOX_URL"], json.dumps(body).encode())
        ).close()
    if server:
        server.child.kill()


if __name__ == "__main__":
    main(sys.argv[1:])
