"""Ways to answer a model call in a test: our two doors, and what people use today.

A backend is opened twice: once for the whole measure (a server starts), and once for each round (a
patch is put in, and taken out). The answers are the bytes that our door writes; servers that make
their own answers make them of the same text. Peers come from `bench/requirements.txt` and npm.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import msgspec
import yaml

from bench import stdlib_server
from bench.model_calls import (
    TEXT,
    Call,
    bare_transport,
    caller,
    canned,
    door,
    on_transport,
    transition,
)
from harness.clock import RealClock
from harness.core.values.plans import Head
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.loopback import Loopback

MOCKED = "http://bench.invalid"
AIMOCK = Path(sys.prefix) / "node/node_modules/@copilotkit/aimock/dist/cli.js"
START_S = 20.0

Round = Callable[[], AbstractContextManager[Call]]


class Backend(NamedTuple):
    """A way to answer; `opened` takes whether the call streams, and an empty folder."""

    name: str
    place: str
    opened: Callable[[bool, Path], AbstractContextManager[Round]]
    is_ours: bool = False


def _always(call: Call) -> Round:
    return lambda: contextlib.nullcontext(call)


@contextmanager
def _bare(stream: bool, folder: Path) -> Iterator[Round]:
    yield _always(on_transport(stream, bare_transport(stream)))


@contextmanager
def _our_transport(stream: bool, folder: Path) -> Iterator[Round]:
    yield _always(on_transport(stream, HttpxTransport(door())))


@contextmanager
def _respx(stream: bool, folder: Path) -> Iterator[Round]:
    import httpx
    import pytest_httpx2  # type: ignore[import-not-found]  # noqa: F401  # the mocker of httpx2
    import respx

    head, body = canned(stream)
    answer = httpx.Response(head.status, headers=head.headers, content=body)
    call = caller(stream)

    @contextmanager
    def once() -> Iterator[Call]:
        with respx.mock(assert_all_called=False, using="httpcore2") as router:
            router.post(f"{MOCKED}/v1/messages").mock(side_effect=lambda _: answer)
            yield call

    yield once


def _cassette(stream: bool, folder: Path) -> str:
    head, body = canned(stream)
    headers = {name: [value] for name, value in head.headers.items()}
    request = {"method": "POST", "uri": f"{MOCKED}/v1/messages", "body": "", "headers": {}}
    status = {"code": head.status, "message": "OK"}
    response = {"status": status, "headers": headers, "body": {"string": body.decode()}}
    path = folder / "cassette.yaml"
    path.write_text(
        yaml.safe_dump({"version": 1, "interactions": [{"request": request, "response": response}]})
    )
    return str(path)


@contextmanager
def _vcrpy(stream: bool, folder: Path) -> Iterator[Round]:
    import vcr

    player, path, call = vcr.VCR(record_mode="none"), _cassette(stream, folder), caller(stream)

    @contextmanager
    def once() -> Iterator[Call]:
        with player.use_cassette(path, allow_playback_repeats=True):
            yield call

    yield once


@contextmanager
def _cassetter(stream: bool, folder: Path) -> Iterator[Round]:
    import cassetter  # type: ignore[import-not-found]

    path, call = _cassette(stream, folder), caller(stream)

    @contextmanager
    def once() -> Iterator[Call]:
        with cassetter.use_cassette(path, record_mode="none"):
            yield call

    yield once


def _our_process(ready: Any) -> None:
    with Loopback(transition(), RealClock()) as server:
        ready.send(server.urls.model)
        ready.recv()


@contextmanager
def _our_server(stream: bool, folder: Path) -> Iterator[Round]:
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_our_process, args=(theirs,), daemon=True)
    child.start()
    yield _always(caller(stream, base_url=ours.recv()))
    ours.send(None)
    child.join(START_S)


@contextmanager
def _stdlib(stream: bool, folder: Path) -> Iterator[Round]:
    listener = socket.create_server(("127.0.0.1", 0))
    context = multiprocessing.get_context("fork")
    arguments = (listener, _http(*canned(stream)))
    child = context.Process(target=stdlib_server.serve, args=arguments, daemon=True)
    child.start()
    yield _always(caller(stream, base_url=f"http://127.0.0.1:{listener.getsockname()[1]}"))
    child.terminate()
    child.join(START_S)


def _http(head: Head, body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {head.status} OK", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in head.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def _aimock(stream: bool, folder: Path) -> Iterator[Round]:
    if not AIMOCK.is_file():
        raise FileNotFoundError("@copilotkit/aimock is not installed")
    fixture = {"match": {"userMessage": "quick brown fox"}, "response": {"content": TEXT}}
    (folder / "fixtures.json").write_bytes(msgspec.json.encode({"fixtures": [fixture]}))
    port = _free_port()
    command = ["node", str(AIMOCK), "-p", str(port), "-f", str(folder)]
    with _started([*command, "--log-level", "silent", "--journal-max", "100"], port, folder):
        yield _always(caller(stream, base_url=f"http://127.0.0.1:{port}"))


@contextmanager
def _llmock(stream: bool, folder: Path) -> Iterator[Round]:
    port = _free_port()
    program = Path(sys.executable).with_name("llmock")
    command = [str(program), "serve", "--host", "127.0.0.1", "--port", str(port)]
    with _started(command, port, folder):
        yield _always(caller(stream, base_url=f"http://127.0.0.1:{port}/anthropic"))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def _started(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """A server of another project, from its first answer to a connection on."""
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet)
    try:
        deadline_s = time.monotonic() + START_S
        while not _answers(port):
            if server.poll() is not None or time.monotonic() > deadline_s:
                raise ChildProcessError(f"{command[0]} did not start")
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait(START_S)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 0.2).close()
    except OSError:
        return False
    return True


IN_PROCESS, LOOPBACK = "in process", "over loopback"
FLOOR = Backend(f"bare httpx2 {httpx2.__version__} MockTransport", IN_PROCESS, _bare)
BACKENDS = (
    FLOOR,
    Backend("loop-harness transport", IN_PROCESS, _our_transport, is_ours=True),
    Backend("respx by pytest-httpx2", IN_PROCESS, _respx),
    Backend("cassetter replay", IN_PROCESS, _cassetter),
    Backend("vcrpy replay", IN_PROCESS, _vcrpy),
    Backend("loop-harness server", LOOPBACK, _our_server, is_ours=True),
    Backend("http.server of Python", LOOPBACK, _stdlib),
    Backend("aimock server", LOOPBACK, _aimock),
    Backend("llmock server", LOOPBACK, _llmock),
)
