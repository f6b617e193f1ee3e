"""A client of yaml-language-server over standard input and output, as an editor speaks to it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Json = Any


class LanguageServer:
    """One server with one schema for every file."""

    def __init__(self, process: subprocess.Popen[bytes], schema: Path) -> None:
        self._process, self._schema, self._id = process, schema, 0
        self._versions: dict[str, int] = {}
        self._found: dict[str, list[Json]] = {}

    def start(self) -> None:
        """Say what an editor says first."""
        self._ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self._tell("initialized", {})
        self._tell("workspace/didChangeConfiguration", {"settings": self._settings()})
        while not self.problems("no-such-key: 1\n", "first.yaml"):
            pass  # the schema is not read yet

    def _settings(self) -> Json:
        schemas = {self._schema.as_uri(): ["*.yaml"]}
        return {
            "yaml": {"schemas": schemas, "schemaStore": {"enable": False}, "validate": True,
                     "hover": True, "completion": True},
            "http": {},
        }  # fmt: skip

    def completions(self, text: str, name: str = "draft.yaml") -> list[Json]:
        """What is offered at the mark `|` of a text."""
        uri, place = self._open(text, name)
        found = self._ask(
            "textDocument/completion", {"textDocument": {"uri": uri}, "position": place}
        )
        return list(found["items"])

    def hover(self, text: str, name: str = "draft.yaml") -> str:
        """What is shown over the mark `|` of a text."""
        uri, place = self._open(text, name)
        found = self._ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})
        return str(found["contents"]["value"]) if found else ""

    def problems(self, text: str, name: str = "draft.yaml") -> list[str]:
        """The messages of the diagnostics of a text."""
        uri, _ = self._open(text, name, marked=False)
        while uri not in self._found:
            self._take()
        return [str(one["message"]) for one in self._found[uri]]

    def _open(self, text: str, name: str, marked: bool = True) -> tuple[str, Json]:
        uri, place = f"file:///{name}", {"line": 0, "character": 0}
        if marked:
            before, _, behind = text.partition("|")
            place = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
            text = before + behind
        self._found.pop(uri, None)
        version = self._versions[uri] = self._versions.get(uri, 0) + 1
        if version == 1:
            document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
            self._tell("textDocument/didOpen", {"textDocument": document})
        else:
            named = {"uri": uri, "version": version}
            changes = {"textDocument": named, "contentChanges": [{"text": text}]}
            self._tell("textDocument/didChange", changes)
        return uri, place

    def _ask(self, method: str, params: Json) -> Json:
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        while True:
            message = self._take()
            if message.get("id") == self._id and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def _tell(self, method: str, params: Json) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()

    def _take(self) -> Json:
        """The next message; questions of the server get what an editor with one setting says."""
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        assert length, "the server has ended"
        message = json.loads(self._process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self._found[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" in message and "id" in message:
            asked = message["params"].get("items", []) if message["method"].endswith("n") else []
            settings = self._settings()
            answer = [settings.get(item.get("section"), {}) for item in asked] or None
            self._send({"id": message["id"], "result": answer})
        return message


@contextmanager
def language_server(command: list[str], schema: Path) -> Iterator[LanguageServer]:
    """A server that is started, and ended at the end."""
    process = subprocess.Popen(
        [*command, "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        server = LanguageServer(process, schema)
        server.start()
        yield server
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
