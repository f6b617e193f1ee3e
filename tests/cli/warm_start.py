"""Command lines as processes that are forked from one in which the harness is imported.

Half of the time of a short command is its imports, and the tests start hundreds. A forked process
has its own files, signals, folder and environment, so only the imports and the hash seed are
shared. A variable that the interpreter reads as it starts needs a new interpreter: see `is_cold`.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NoReturn, Self

ROOT = Path(__file__).parents[2]
_MOST_BYTES = 2**20
_OF_THE_START = ("PYTHON", "LANG", "LC_")
_ROOMS = ("checks", "cli", "files", "providers", "recordings", "report", "runner", "verdicts")
"""What most commands import; their modules name the others."""


def is_cold(settings: Mapping[str, str]) -> bool:
    """Whether the interpreter reads one of these variables, so that a fork would not see it."""
    return any(name.startswith(_OF_THE_START) for name in settings)


class WarmStart:
    """A process with the imports, and the pipe over which it is asked to fork."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.cli.warm_start", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, cwd=ROOT, env={**environment}, pass_fds=[theirs.fileno()]
            )
        self._socket = ours

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._process.wait(60)

    def run(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run `python -m harness` with these words; like `subprocess.run`, it reads to the end."""
        out, err, ended = os.pipe(), os.pipe(), os.pipe()
        null = os.open(os.devnull, os.O_RDONLY)
        asked = json.dumps([words, str(folder), {**environment}]).encode()
        handed = [null, out[1], err[1], ended[1]]
        socket.send_fds(self._socket, [asked], handed)
        for descriptor in handed:
            os.close(descriptor)
        *said, status = _read(out[0], err[0], ended[0], timeout_s=timeout_s)
        output = (text.decode() for text in said)
        return subprocess.CompletedProcess([*words], int(status), *output)


def _read(*pipes: int, timeout_s: float) -> list[bytes]:
    said, end_s = {pipe: bytearray() for pipe in pipes}, time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector, ExitStack() as opened:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
            opened.callback(os.close, pipe)
        while selector.get_map():
            ready = selector.select(end_s - time.monotonic())
            assert ready, f"the command still runs after {timeout_s} s"
            for key, _ in ready:
                piece = os.read(key.fd, 2**16)
                said[key.fd] += piece
                if not piece:
                    selector.unregister(key.fd)
    return [bytes(text) for text in said.values()]


def _serve(asking: socket.socket) -> None:
    """Fork for each command that is asked for; the grandchild returns and becomes that command.

    The child between waits for it, and writes its status into a pipe of this command alone. A
    command that runs too long fails its own test, and neither holds up the next nor answers it.
    """
    while True:
        asked, descriptors, _, _ = socket.recv_fds(asking, _MOST_BYTES, 4)
        if not asked:
            os._exit(0)
        if not os.fork():
            asking.close()
            ended = descriptors.pop()
            child = os.fork()
            if child:
                _wait(child, ended, descriptors)
            os.close(ended)
            _become(*json.loads(asked), descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        while _has_ended():
            pass


def _wait(child: int, ended: int, descriptors: Sequence[int]) -> NoReturn:
    for descriptor in descriptors:
        os.close(descriptor)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(BrokenPipeError):  # the test gave up
        os.write(ended, str(status).encode())
    os._exit(0)


def _has_ended() -> bool:
    with suppress(ChildProcessError):
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    return False


def _become(
    words: list[str], folder: str, environment: dict[str, str], descriptors: list[int]
) -> None:
    for place, descriptor in enumerate(descriptors):
        os.dup2(descriptor, place)
        os.close(descriptor)
    # The streams of the first process remember which kind of file they were opened on.
    sys.stdin = sys.__stdin__ = open(0, encoding=sys.stdin.encoding, closefd=False)  # noqa: SIM115
    for name, number in (("stdout", 1), ("stderr", 2)):
        old = getattr(sys, name)
        told = {"encoding": old.encoding, "errors": old.errors}
        new = open(number, "w", closefd=False, **told)  # noqa: SIM115
        new.reconfigure(line_buffering=number == 2)
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = words
    sys.path.insert(0, folder)  # as `-m` does


def _main() -> NoReturn:
    import runpy
    from importlib import import_module
    from pkgutil import walk_packages

    for room in _ROOMS:
        package = import_module(f"harness.{room}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    # Unless they are frozen, each child copies all objects as its collector counts them: 70 ms.
    gc.collect()
    gc.freeze()
    sys.path.remove(str(ROOT))
    _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("harness", run_name="__main__", alter_sys=True)
    raise AssertionError("a command ends its process")


if __name__ == "__main__":
    _main()
