"""Starts the command line agents of the checks: headless, with a scratch HOME and dummy keys.

    with BareServer([...]) as server, Program("claude", server) as program:
        said = program.ask("Hello")      # a process for each message, in one session

Each program has a tool for shell commands; `shell` is a call of it. It runs in `program.work`.
Claude Code and opencode take a ToolServer as `tools`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from bare_server import call, scratch

CLOSED = "http://127.0.0.1:9"
SHELL = {"claude": ("Bash", "command"), "codex": ("exec_command", "cmd"),
         "gemini": ("run_shell_command", "command"), "opencode": ("bash", "command"),
         "qwen": ("run_shell_command", "command")}  # fmt: skip
MORE = {"claude": {"description": "run"}, "opencode": {"description": "run"},
        "qwen": {"is_background": False}}  # fmt: skip

CODEX = """model_provider = "bare"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.bare]
name = "bare"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}


@dataclass(frozen=True)
class Said:
    """What a process printed, and its exit status."""

    text: str
    errors: str
    status: int


class Program:
    """A program with folders of its own; exits with 2 where it is not installed."""

    def __init__(self, name, server, config="", tools=None):
        self.name, self.url, self.config, self.tools = name, server.url, config, tools
        self.path = shutil.which(name) or sys.exit(_missing(name))
        self.id, self.asked = str(uuid.uuid4()), 0

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="check-", ignore_cleanup_errors=True)
        self.home, self.work = Path(self._folder.name, "home"), Path(self._folder.name, "work")
        self.home.mkdir()
        self.work.mkdir()
        proxies = {"HTTPS_PROXY": CLOSED, "NO_PROXY": "127.0.0.1,localhost"}
        self.env = scratch(self.home, **proxies, **getattr(self, f"_set_up_{self.name}")())
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    @property
    def version(self):
        asked = [self.path, "--version"]
        return subprocess.run(asked, env=self.env, capture_output=True, text=True).stdout.strip()

    def ask(self, text, timeout_s=300):
        """What a process says to a message; later ones go on with the session."""
        words = getattr(self, f"_words_{self.name}")(text, self.asked > 0)
        self.asked += 1
        made = subprocess.run(
            [self.path, *words], cwd=self.work, env=self.env, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=timeout_s,
        )  # fmt: skip
        return Said(made.stdout.strip(), made.stderr.strip(), made.returncode)

    def shell(self, command, **more):
        """An answer that calls the shell tool of the program."""
        tool, key = SHELL[self.name]
        return call(tool, {key: command, **MORE.get(self.name, {})}, **more)

    def _write(self, name, text):
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")

    def _set_up_claude(self):
        off = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER")
        more = {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "sk-dummy"}
        more |= {"MCP_CONNECTION_NONBLOCKING": "0"}
        return {**dict.fromkeys((*off, "DISABLE_TELEMETRY"), "1"), **more}

    def _words_claude(self, text, again):
        more = ["--resume", self.id] if again else ["--session-id", self.id]
        words = ["-p", text, *more, "--model", "claude-sonnet-5", "--allowedTools", "Bash"]
        if self.tools:
            server = {"type": "http", "url": self.tools.url, "alwaysLoad": True}
            words[-1] += ",mcp__shop"
            words += ["--mcp-config", json.dumps({"mcpServers": {"shop": server}})]
        return [*words, "--output-format", "json"]

    def _set_up_codex(self):
        self._write(".codex/config.toml", CODEX.replace("{url}", self.url) + self.config)
        return {"OPENAI_API_KEY": "sk-dummy"}

    def _words_codex(self, text, again):
        words = ["exec", "--skip-git-repo-check", "-m", "gpt-5"]
        return [*words, *(["resume", "--last"] if again else []), text]

    def _set_up_gemini(self):
        self._write(".gemini/settings.json", GEMINI)
        return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": self.url,
                "GEMINI_CLI_NO_RELAUNCH": "true"}  # fmt: skip

    def _words_gemini(self, text, again):
        words = ["-p", text, "-m", "gemini-2.5-pro", "-o", "json", "--skip-trust", "--yolo"]
        return [*words, *(["--resume", "latest"] if again else [])]

    def _set_up_opencode(self):
        options = {"baseURL": f"{self.url}/v1", "apiKey": "sk-dummy"}
        bare = {"npm": "@ai-sdk/anthropic", "name": "bare", "options": options}
        config = {"autoupdate": False, "share": "disabled", "small_model": "bare/fake"}
        config["provider"] = {"bare": {**bare, "models": {"fake": {}}}}
        if self.tools:
            config["mcp"] = {"shop": {"type": "remote", "url": self.tools.url, "oauth": False}}
        self._write(".config/opencode/opencode.json", config)
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def _words_opencode(self, text, again):
        more = ["--continue"] if again else ["--title", "check"]
        return ["run", "--pure", "--auto", "-m", "bare/fake", *more, text]

    def _set_up_qwen(self):
        settings = {**GEMINI, "security": {"auth": {"selectedType": "openai"}}}
        settings |= {"memory": {"enableManagedAutoMemory": False}}
        settings |= {"general": {"disableAutoUpdate": True, "enableAutoUpdate": False}}
        self._write(".qwen/settings.json", settings)
        return {"OPENAI_API_KEY": "sk-dummy", "OPENAI_BASE_URL": f"{self.url}/v1"}

    def _words_qwen(self, text, again):
        return ["-p", text, "-m", "fake", "--yolo", *(["--continue"] if again else [])]


def ended(seen, *lines):
    """Print what was observed, and exit: 1 where the defect is seen."""
    print(*lines, sep="\n")
    print("seen" if seen else "not seen")
    sys.exit(1 if seen else 0)


def _missing(name):
    print(f"{name} is not on the PATH")
    return 2
