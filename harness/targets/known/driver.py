"""The program of a known target: it starts the agent once for each message, or once a run.

It uses only the standard library, so it starts anywhere and at once; a stored session alone needs
more. Its argument is the row of the target as JSON. The agent's environment comes only from its
row. If Linux permits it, the agent has a network with loopback only; a relay connects that to the
run.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.request
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

ENV = os.environ
FOLDER = Path(ENV.get("HARNESS_SESSION_DIR", "."))
KEPT = ("PATH", "LANG", "HARNESS_SESSION_DIR")
"""The variables of the run's environment that stay; the last one marks the run's processes."""

DEAD_PROXY = "http://127.0.0.1:9"
TEXT_MAX = 4000
SEEDED = "main"
"""The session that a run may begin with."""

SEED = FOLDER / "seed.jsonl"

ATTEMPTS = 2
"""How often a user says a message that ends the program each time; the program cannot know."""

_NEWUSER, _NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS, _UP_RUNNING = 0x8914, 0x41


def main() -> int:
    """Play the run; its exit status is 0, or that of an agent that a signal has ended."""
    row = json.loads(sys.argv[1])
    port = urlsplit(ENV["HARNESS_INBOX_URL"]).port or 0
    path = FOLDER / "relay"
    _serve(socket.AF_UNIX, str(path), lambda: _joined(socket.AF_INET, ("127.0.0.1", port)))
    child = os.fork()
    if child == 0:
        os._exit(_play(row, port, path))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


def _play(row: dict[str, Any], port: int, path: Path) -> int:
    closed = close_network()
    if closed:
        _serve(socket.AF_INET, ("127.0.0.1", port), lambda: _joined(socket.AF_UNIX, str(path)))
    return Agent(row, {} if closed else _proxies()).play()


def _proxies() -> dict[str, str]:
    """Return proxy variables with a closed port, for an open network and clients that use them."""
    names = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "ALL_PROXY"), DEAD_PROXY)
    return {**names, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


def close_network() -> bool:
    """Restrict this process to a network with loopback only; return whether that was permitted."""
    user, group = os.getuid(), os.getgid()
    try:
        import ctypes
        import fcntl

        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_NEWUSER | _NEWNET) != 0:
            return False
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _UP_RUNNING))
    except (AttributeError, ImportError, OSError):
        return False
    return True


def _serve(family: int, address: Any, joined: Any) -> None:
    """Listen, and connect each connection with the one that `joined` makes."""
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_UNIX:
        Path(address).unlink(missing_ok=True)
    listener.bind(address)
    listener.listen(64)

    def accept() -> None:
        while True:
            near, _ = listener.accept()
            with contextlib.suppress(OSError):
                _join(near, joined())

    threading.Thread(target=accept, daemon=True).start()


def _joined(family: int, address: Any) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.connect(address)
    return made


def _join(near: socket.socket, far: socket.socket) -> None:
    ended = threading.Event()
    for source, sink in ((near, far), (far, near)):
        threading.Thread(target=_pump, args=(source, sink, ended), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket, ended: threading.Event) -> None:
    """Carry bytes one way. A reset is passed on as a reset, an end as an end."""
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        if not ended.is_set() and _is_dropped(source):
            raise ConnectionResetError
        ended.set()
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        with contextlib.suppress(OSError):
            sink.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for each in (sink, source):
            with contextlib.suppress(OSError):  # another reader may still keep it open
                each.shutdown(socket.SHUT_RD)
            each.close()


def _is_dropped(source: socket.socket) -> bool:
    """Whether the other relay closed both ways, which means a reset: its socket cannot send one."""
    if source.family != socket.AF_UNIX or source.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(source, select.POLLHUP)
    return any(what & select.POLLHUP for _, what in poll.poll(0))


class Agent:
    """The agent of a row: its configuration, and a process for each message."""

    def __init__(self, row: dict[str, Any], more: dict[str, str]) -> None:
        self.row, self.options = row, json.loads(ENV.get("HARNESS_OPTIONS") or "{}")
        self.home = FOLDER / "home"
        given = {n: self.options.get(n, v) for n, v in row.get("options", {}).items()}
        given |= row.get("by-wire", {}).get(ENV["HARNESS_WIRE"], {})
        for option, choices in row.get("by-option", {}).items():
            given |= choices[str(given[option])].get("words", {})
        self.words = {
            **{f"{{{name}}}": str(value).lower() for name, value in given.items()},
            "{here}": str(Path(__file__).parent),
            "{python}": sys.executable,
            "{home}": str(self.home),
            "{model}": ENV["ANTHROPIC_BASE_URL"],
            "{mcp}": ENV["HARNESS_MCP_URL"],
            "{name}": str(self.options.get("model") or row.get("name", "")),
            "{program}": row["program"],
        }
        self.env = {name: ENV[name] for name in KEPT if name in ENV} | {"HOME": str(self.home)}
        self.env |= more | {n: self._filled(v) for n, v in row.get("environment", {}).items()}
        self.stopped = False
        signal.signal(signal.SIGINT, self._stop)

    def _stop(self, *_: object) -> None:
        """Take a cancel: the program of the message gets the signal too, and ends by it."""
        self.stopped = True

    def _filled(self, text: str, **more: str) -> str:
        for name, value in {**self.words, **{f"{{{n}}}": v for n, v in more.items()}}.items():
            text = text.replace(name, value)
        return text

    def play(self) -> int:
        """Play the messages until there is none."""
        _wake_tools(self.words["{mcp}"])
        if self.row.get("stays"):
            return self._stay()
        if SEED.exists():  # laid before the first look into the program's store
            self._begin(SEEDED, self._work(SEEDED))
        for message in _inbox():
            if message["kind"] == "message" and (status := self.answer(message)):
                return status
        return 0

    def _stay(self) -> int:
        """Start the program that takes the messages by itself; return its exit status."""
        named = self._begin(SEEDED, FOLDER / "work")
        command = [self._filled(word, **named) for word in self.row["stays"]]
        seams = {name: value for name, value in ENV.items() if name.startswith("HARNESS_")}
        status = subprocess.run(command, cwd=named["work"], env=self.env | seams).returncode
        return status if status >= 0 else 128 - status

    def answer(self, message: dict[str, Any]) -> int:
        """Play a message; return the exit status of an agent that a signal ended, else 0."""
        session = message["session"]
        tries = FOLDER / f"tries-{quote(message['id'], safe='')}"
        if tries.exists() and tries.stat().st_size >= ATTEMPTS:
            return self._say(message, "the program was ended with this message, twice", "error")
        is_first = not self._work(session).exists()  # a later life goes on with its sessions
        named = self._begin(session, self._work(session))
        made = self._started(self.row["first" if is_first else "next"], message, named, tries)
        was_killed = tries.stat().st_size > 1 and not (FOLDER / "answered").exists()
        if made.returncode > 0 and was_killed and not self.stopped:
            # It was killed before it kept anything of its first session, which must begin again.
            made = self._started(self.row["first"], message, named, tries)
        if made.returncode < 0 and not self.stopped:
            sys.stderr.buffer.write(made.stderr[-TEXT_MAX:])
            return 128 - made.returncode
        tries.unlink()
        (FOLDER / "answered").touch()
        told = self._tell(message, made, named)
        if is_first and made.returncode and not message["text"].strip():
            # Claude Code and Gemini CLI refuse a blank prompt before they make a session.
            shutil.rmtree(named["work"])
        return told

    def _started(
        self, words: list[str], message: dict[str, Any], named: dict[str, str], tries: Path
    ) -> subprocess.CompletedProcess[bytes]:
        """Start the program with a message, and wait for its end."""
        takes_text = any("{text}" in word for word in words)
        command = [self._filled(w, **named).replace("{text}", message["text"]) for w in words]
        with tries.open("a") as begun:
            begun.write(".")
        self.stopped = False
        return subprocess.run(
            command, cwd=named["work"], env=self.env, input=None if takes_text else
            message["text"].encode("utf-8", "replace"), capture_output=True,
            stdin=subprocess.DEVNULL if takes_text else None,
        )  # fmt: skip

    def _work(self, session: str) -> Path:
        return FOLDER / "work" / quote(session, safe="")

    def _begin(self, session: str, work: Path) -> dict[str, str]:
        """Return the words of a session; the first time, configure the program, and lay a stored
        session."""
        slug = re.sub("[^A-Za-z0-9]", "-", str(work))
        named = {"work": str(work), "id": str(_uuid(session)), "slug": slug}
        if not work.exists():
            work.mkdir(parents=True)
            self._write(self.row["files"], named)
            if session == SEEDED and SEED.exists() and self.row["past"]["form"]:
                self._lay_past(named)
        return named

    def _write(self, files: dict[str, str], named: dict[str, str]) -> None:
        for name, text in files.items():
            file = Path(self._filled(name, **named))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._filled(text, **named), encoding="utf-8")

    def _lay_past(self, named: dict[str, str]) -> None:
        """Make the stored session one of the program's own."""
        from harness.targets.known.past_session import document  # few runs have one, and it is slow

        past = self.row["past"]
        said = document(
            past["form"], SEED, id=named["id"], work=named["work"], version=self.row["version"],
            model=self.words["{name}"], prefix=self.row["profile"].get("tool_prefix", ""),
        )  # fmt: skip
        self._write(past["files"], {**named, "past": said})
        if command := [self._filled(word, **named) for word in past["then"]]:
            subprocess.run(command, cwd=named["work"], env=self.env, check=True, stdout=2)

    def _tell(
        self, message: dict[str, Any], made: subprocess.CompletedProcess[bytes],
        named: dict[str, str],
    ) -> int:  # fmt: skip
        """Send the answer; return the exit status of an agent that failed without a text."""
        out = made.stdout.decode("utf-8", "replace")
        text, failed = self._said(out, named)
        if self.stopped and (made.returncode or failed or not text):  # else it has answered
            return self._say(message, "" if failed else text, "final", "cancelled")
        failed = failed or made.returncode != 0
        if failed and not text:
            text = made.stderr.decode("utf-8", "replace").strip()[-TEXT_MAX:]
        if made.returncode and not text:
            return made.returncode
        return self._say(message, text, "error" if failed else "final")

    def _say(self, message: dict[str, Any], text: str, kind: str, status: str = "") -> int:
        named = {"session": message["session"], "in_reply_to": message["id"]}
        _post({"text": text, "kind": kind, **named, **({"status": status} if status else {})})
        return 0

    def _said(self, out: str, named: dict[str, str]) -> tuple[str, bool]:
        """Return the answer, and whether the agent marks it as an error."""
        how, _, rest = self.row.get("answer", "text").partition(" ")
        if how == "file":
            file = Path(self._filled(rest, **named))
            text = file.read_text("utf-8", "replace") if file.exists() else ""
            file.unlink(missing_ok=True)
            return text.strip(), not text
        if how == "text":
            return out.strip(), False
        value = _last_json(out)
        failed = bool(value.get(self.row["failed"])) if self.row.get("failed") else False
        said = value.get(rest)
        return (said if isinstance(said, str) else ""), failed or said is None


def _last_json(out: str) -> dict[str, Any]:
    """Return the last JSON object of an output, whole or on a line."""
    for text in (out, *reversed(out.splitlines())):
        with contextlib.suppress(ValueError):
            if isinstance(value := json.loads(text), dict):
                return value
    start = out.find("\n{")
    with contextlib.suppress(ValueError):
        if start >= 0 and isinstance(value := json.loads(out[start:]), dict):
            return value
    return {}


def _uuid(session: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{FOLDER}/{session}")


def _wake_tools(url: str) -> None:
    """Send the tool server one request, because agents wait for it only briefly, or not at all."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {},
              "clientInfo": {"name": "loop-harness", "version": "1"}}  # fmt: skip
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    kinds = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, data=json.dumps(asked).encode(), headers=kinds)
    with contextlib.suppress(OSError), urllib.request.urlopen(request) as answer:
        answer.read()


def _inbox() -> Any:
    while True:
        with urllib.request.urlopen(ENV["HARNESS_INBOX_URL"]) as got:
            if got.status == 204:
                return
            if got.status == 200:
                yield json.loads(got.read())


def _post(value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(ENV["HARNESS_OUTBOX_URL"], data=data, headers=headers)
    with urllib.request.urlopen(request):
        return


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    signal.signal(signal.SIGINT, lambda *_: None)  # a cancel is for the program of the message
    sys.exit(main())
