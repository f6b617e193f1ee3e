"""A target that is a program: it runs in its own process group, and is ended with the group.

A lasting program plays one run after the other: each request for the next run ends the last one. It
is started at the first run, kept while this process lives, and used by one run at a time. A run
that did not end in order ends the program, and the next run starts another one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import IO

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.plans import Head
from harness.files.owner import scratch_folder
from harness.processes.family import family
from harness.processes.machine import lack_of
from harness.targets.output_capture import OUTPUT_MAX_BYTES, end_bytes, output_end
from harness.targets.printed_stack import STACK_MAX_BYTES
from harness.targets.spec import TargetSpec
from harness.transports.http_answers import error_bytes
from harness.transports.http_connection import Connection, Request, whole_answer
from harness.transports.http_server import Server, carry
from harness.transports.request_heads import RefusedRequest

GRACE_S = 2.0
"""The time limit for a program to end after SIGTERM."""


def start_program(
    target: TargetSpec, env: dict[str, str], output: IO[bytes], folder: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start a program in its own process group, in the user's folder if no other one is given.

    Raises InputError when it cannot be started, and MachineLacks when nothing can.
    """
    given = subprocess.PIPE if target.reads_lines else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            target.command, env=env, start_new_session=True, cwd=folder,
            stdin=given, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except OSError as error:
        if lack := lack_of(error, ours=True):
            raise lack from None
        what = f"cannot be started: {error.strerror}"
        raise InputError(what, f"target {target.text!r}") from None


def end_program(child: subprocess.Popen[bytes]) -> None:
    """End a program and its children, if they still run: SIGTERM, then SIGKILL to the group."""
    if child.poll() is None:
        signal_group(child, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):  # SIGKILL follows in any case
            child.wait(GRACE_S)
    signal_group(child, signal.SIGKILL)
    child.wait()


def signal_group(child: subprocess.Popen[bytes] | None, number: signal.Signals) -> None:
    """Send a signal to a program and its children, if they still run."""
    if child is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)


def output_tail(output: IO[bytes]) -> str:
    """Return the last lines that a program wrote, in which it may say why it ended."""
    return output_end(output, STACK_MAX_BYTES).strip()


def size_of(output: IO[bytes]) -> int:
    """Return how many bytes a program has written."""
    return os.fstat(output.fileno()).st_size


def pass_on(output: IO[bytes], since: int = 0) -> None:
    """Write what a program printed after its first `since` bytes to descriptor 1, as if it had
    inherited that: it is captured there, or seen; of much output only the end."""
    data = end_bytes(output, OUTPUT_MAX_BYTES, since)
    with contextlib.suppress(OSError):  # its reader has gone
        while data:
            data = data[os.write(1, data) :]


NEXT_RUN = "HARNESS_RUNS_URL"
"""The variable with the URL of the next run."""

WAIT_S = 20.0
"""How long the URL lets a program wait before it answers 202, which means: ask again."""

LOOK_S = 0.05
"""The interval of checks whether the program has ended."""

_OF_A_PROCESS = ("PATH", "LANG", "HOME")


class LastingProgram:
    """A started program, and the URL from which it gets its runs."""

    def __init__(self, target: TargetSpec, names: Mapping[str, str]) -> None:
        """Start the program. Raises InputError if it cannot be started."""
        self.is_new = True
        self._news = threading.Condition()
        self._next: bytes | None = None
        self._is_playing = self._is_closed = False
        self._asked = 0
        with ExitStack() as held:
            home = held.enter_context(scratch_folder())
            server = Server(self._serve, 0)
            url = f"{server.start()}/harness/runs"
            self.url = url
            held.callback(server.close)
            held.enter_context(family(f"{NEXT_RUN}={url}", adopts=False))
            self.output: IO[bytes] = held.enter_context(tempfile.TemporaryFile())
            env = {"PATH": names["PATH"], "LANG": names["LANG"], "HOME": str(home), NEXT_RUN: url}
            self.child: subprocess.Popen[bytes] = start_program(target, env, self.output)
            self._held = held.pop_all()

    def play(self, names: Mapping[str, str]) -> int | None:
        """Give the program a run's variables, and wait until it asks for the next run.

        Return the exit status if the program ended instead.
        """
        named = {name: text for name, text in names.items() if name not in _OF_A_PROCESS}
        with self._news:
            self._next = msgspec.json.encode(named)
            self._news.notify_all()
            while self._next is not None or self._is_playing:
                if self.child.poll() is not None:
                    return self.child.returncode
                self._news.wait(LOOK_S)
        self.is_new = False
        return None

    def end(self) -> None:
        """End the program and its children."""
        with self._news:
            self._is_closed = True
            self._news.notify_all()
        end_program(self.child)
        self._held.close()

    def _serve(self, connection: Connection) -> None:
        carry(
            connection,
            lambda request: self._respond(connection, request),
            lambda error: error_bytes(error.status, str(error)),
        )

    def _respond(self, connection: Connection, request: Request) -> None:
        if request.method != "GET":
            raise RefusedRequest(405, "the next run is asked for with GET")
        status, body = self._answer()
        head = Head(status, {"content-type": "application/json"} if body else {})
        connection.write(whole_answer(head, body, reusable=request.reusable))

    def _answer(self) -> tuple[int, bytes]:
        """Return the next run, which ends the last one; 202 if none comes soon, 204 after the end.

        A request replaces a waiting one, because the client of the waiting one has given up.
        """
        with self._news:
            self._is_playing = False
            self._asked += 1
            me = self._asked
            self._news.notify_all()
            self._news.wait_for(
                lambda: self._next is not None or self._is_closed or self._asked != me, WAIT_S
            )
            if self._is_closed:
                return 204, b""
            # An answer to a client that has gone would lose the run: nothing would play it.
            if self._next is None or self._asked != me:
                return 202, b""
            body, self._next, self._is_playing = self._next, None, True
            return 200, body


class LastingPrograms:
    """The programs of this process that wait for a run, by command and folder."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[tuple[str, ...], str], list[LastingProgram]] = {}
        self._lock = threading.Lock()
        Finalize(None, self._end, exitpriority=0)  # a worker process ends without `atexit`

    def take(self, target: TargetSpec, names: Mapping[str, str]) -> LastingProgram:
        """Return a waiting program, or a new one with PATH and LANG of `names`."""
        waiting = self._of(target)
        while program := self._popped(waiting):
            if program.child.poll() is None:
                return program
            program.end()
        return LastingProgram(target, names)

    def put_back(self, target: TargetSpec, program: LastingProgram) -> None:
        """Keep a program for the next run, until this process ends."""
        with self._lock:
            self._of(target).append(program)

    def _of(self, target: TargetSpec) -> list[LastingProgram]:
        return self._waiting.setdefault((target.command, os.getcwd()), [])

    def _popped(self, waiting: list[LastingProgram]) -> LastingProgram | None:
        with self._lock:
            return waiting.pop() if waiting else None

    def _end(self) -> None:
        for waiting in self._waiting.values():
            while program := self._popped(waiting):
                program.end()


@cache
def lasting_programs() -> LastingPrograms:
    """Return the lasting programs of this process."""
    return LastingPrograms()
