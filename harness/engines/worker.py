"""The life of a worker process: task after task over its pipe, until the pipe ends.

Ctrl-C, SIGTERM from its parent, or the death of its parent interrupts it once. It then ends its
task and the program under test in order, sends no result, and ignores a second signal. Programs
that it starts have the usual signal handlers.

The target plays in the worker, and may write on any descriptor. So each result on its pipe begins
with a token that only the worker knows, and all other bytes are skipped. The owner never waits for
the rest of a result: a length that a target has written would let it wait without end.
"""

from __future__ import annotations

import fcntl
import gc
import multiprocessing
import os
import pickle
import select
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import util
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, NoReturn

from harness.core.values.errors import HarnessError, Interrupted
from harness.import_path import restore_safe_path
from harness.plugins import load_plugins
from harness.processes.life_signs import LifeSigns, tell

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGIO)


class _Interrupt:
    """The signal handler: it raises within a task; between tasks it takes effect at the next task
    or at the pipe's end."""

    def __init__(self) -> None:
        self.has_come = self.is_raised = self.works = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.has_come = True
        self._raise()

    def begin(self) -> None:
        """Begin a task."""
        self.works = True
        if self.has_come:
            self._raise()

    def _raise(self) -> None:
        if self.works and not self.is_raised:
            self.is_raised = True
            raise Interrupted


def serve(
    pipe: Connection,
    work: Callable[[Any], Any],
    token: bytes,
    signs: LifeSigns,
    plugins: Sequence[str] = (),
    safe: str | None = None,
) -> None:
    """Answer each task with (result, error), as `write_result` does with this token.

    The owner reads the `signs` of this process. `plugins` are the modules that it loads; `safe` is
    the user's PYTHONSAFEPATH.
    """
    restore_safe_path(safe)
    interrupt = _Interrupt()
    tell(signs)
    # The command has ended, or ends by Ctrl-C: its workers end without a traceback.
    with suppress(EOFError, OSError, KeyboardInterrupt):
        try:
            _listen(interrupt)
            _answer(pipe, work, token, plugins, interrupt)
        finally:
            interrupt.is_raised = True
    _leave()


def _leave() -> NoReturn:
    """End this process with what the harness has to end, and without what targets have left.

    Python would wait for a target's threads, and call its `atexit` functions; both may have no end.
    """
    util._run_finalizers()  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(0)


def _answer(
    pipe: Connection,
    work: Callable[[Any], Any],
    token: bytes,
    plugins: Sequence[str],
    interrupt: _Interrupt,
) -> NoReturn:
    """Answer tasks until the pipe ends. Objects that the first task leaves, such as modules, stay,
    so the garbage collector skips them."""
    is_first = True
    while True:
        task = pipe.recv()
        interrupt.begin()
        said = _done(work, plugins, task)
        interrupt.works = False
        write_result(pipe.fileno(), token, said)
        if is_first:
            gc.collect()
            gc.freeze()
            is_first = False


def _listen(interrupt: _Interrupt) -> None:
    """Install the signal handlers. An ignored Ctrl-C stays ignored, as in a shell's background
    job."""
    for number in _SIGNALS:
        if number != signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    parent = multiprocessing.parent_process()
    if parent is not None:
        # SIGIO arrives after the parent's death. A waiting thread instead would disturb a run that
        # forks.
        with suppress(OSError):
            pipe = parent.sentinel
            fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def _done(work: Callable[[Any], Any], plugins: Sequence[str], task: Any) -> bytes:
    try:
        load_plugins(*plugins)
        return pickle.dumps((work(task), None))
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> bytes:
    error.add_note(f"in a worker:\n{traceback.format_exc()}")
    try:
        said = pickle.dumps((None, error))
        pickle.loads(said)
    except Exception:
        return pickle.dumps((None, HarnessError(f"{type(error).__name__}: {error}")))
    return said


TOKEN_BYTES = 16
_LENGTH = struct.Struct("!Q")
_HEAD_BYTES = TOKEN_BYTES + _LENGTH.size
_CHUNK_BYTES = 1 << 18


def new_token() -> bytes:
    """Return the token of a new pipe."""
    return os.urandom(TOKEN_BYTES)


def write_result(descriptor: int, token: bytes, result: bytes) -> None:
    """Write a whole result. Raises OSError after the reading end was closed."""
    left = memoryview(token + _LENGTH.pack(len(result)) + result)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:  # the target has made the descriptor one that does not wait
            select.select([], [descriptor], [])


class ResultStream:
    """The reading end of a worker's pipe."""

    def __init__(self, descriptor: int, token: bytes) -> None:
        self._descriptor, self._token = descriptor, token
        self._read = bytearray()

    def take(self) -> bytes | None:
        """Read once, and return the next result if it is whole; call it when there is something.

        Raises EOFError or OSError at the end of the pipe.
        """
        data = os.read(self._descriptor, _CHUNK_BYTES)
        if not data:
            raise EOFError
        self._read += data
        return self._whole()

    def _whole(self) -> bytes | None:
        begin = self._read.find(self._token)
        if begin < 0:
            del self._read[: -TOKEN_BYTES + 1]  # the end may be the beginning of a token
            return None
        del self._read[:begin]
        if len(self._read) < _HEAD_BYTES:
            return None
        end = _HEAD_BYTES + _LENGTH.unpack_from(self._read, TOKEN_BYTES)[0]
        if len(self._read) < end:
            return None
        result = bytes(self._read[_HEAD_BYTES:end])
        del self._read[:end]
        return result
