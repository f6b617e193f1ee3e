"""The gateway of hermes-agent for the hand checks, in a scratch HOME: the standard library alone.

    with BareServer(answers) as model, HermesServer(model.url) as hermes:
        answer = hermes.ask("Hello")
    print(hermes.rows())

The program is the first argument of the check, or `hermes` on the PATH. It needs the extras `mcp`
and `sms` (for the HTTP server): pip install 'hermes-agent[mcp,sms]'.
"""

from __future__ import annotations

import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from bare_server import scratch

KEY = "dummy-key-of-the-check"
CONFIG = """
model: {default: fake-model, provider: custom, base_url: "%s/v1", api_key: sk-dummy,
        api_mode: chat_completions, context_length: 200000}
platform_toolsets: {api_server: [%s]}
updates: {check: false}
security: {tirith_enabled: false}
"""


class HermesServer:
    """`hermes gateway run` with its API server; each message gets its own agent."""

    def __init__(self, model_url, toolset="file", config=""):
        found = shutil.which(sys.argv[1] if len(sys.argv) > 1 else "hermes")
        if found is None:
            print("hermes is not installed: pip install 'hermes-agent[mcp,sms]'")
            sys.exit(2)
        self.program = found
        self.home = Path(tempfile.mkdtemp(prefix="hermes-check-"))
        self.folder = self.home / "hermes"
        self.folder.mkdir()
        (self.folder / "config.yaml").write_text(CONFIG % (model_url, toolset) + config)

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        more = {"API_SERVER_ENABLED": "true", "API_SERVER_KEY": KEY, "API_SERVER_PORT": str(port)}
        more |= {"API_SERVER_HOST": "127.0.0.1", "OPENAI_API_KEY": "sk-dummy"}
        env = scratch(self.home, HERMES_HOME=str(self.folder), **more)
        self.log = (self.home / "log").open("wb")
        command = [self.program, "gateway", "run"]
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )
        until = time.monotonic() + 300
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5) as got:
                    print("hermes-agent", json.load(got).get("version") or self.version())
                    return self
            except OSError:
                time.sleep(0.1)
        print("the gateway does not answer:", (self.home / "log").read_text()[-500:])
        sys.exit(2)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.kept = self._rows()
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def version(self):
        """The version as its package says it."""
        said = subprocess.run(
            [self.program, "--version"], env=scratch(self.home), capture_output=True, text=True
        )
        return said.stdout.splitlines()[0] if said.stdout else "?"

    def ask(self, text, session="check"):
        """The status and the JSON of the answer to a message of the session."""
        body = {"model": "hermes", "messages": [{"role": "user", "content": text}]}
        headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
        headers["x-hermes-session-id"] = session
        request = urllib.request.Request(
            f"{self.url}/v1/chat/completions", json.dumps(body).encode(), headers
        )
        try:
            with urllib.request.urlopen(request, timeout=600) as got:
                return got.status, json.load(got)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def rows(self):
        """The stored messages of all sessions: (role, content), while it runs or as it ended."""
        return self._rows() if self.process.poll() is None else self.kept

    def _rows(self):
        path = self.folder / "state.db"
        if not path.exists():
            return []
        db = sqlite3.connect(path)
        try:
            return db.execute("SELECT role, content FROM messages ORDER BY id").fetchall()
        finally:
            db.close()


def text_of(value):
    """The text of an answer, or its error."""
    if "error" in value:
        return f"error: {value['error'].get('message')}"
    return value["choices"][0]["message"]["content"]
