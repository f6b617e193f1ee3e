"""The life of a worker process: task after task over its pipe, until the pipe ends.

Ctrl-C, SIGTERM from its parent, or the death of its parent interrupts it once. It then ends its
task and the program under test in order, sends no result, and ignores a second signal. Programs
that it starts have the usual signal handlers.
"""

from __future__ import annotations

import fcntl
import gc
import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, NoReturn

from harness.core.values.errors import HarnessError, Interrupted
from harness.import_path import restore_safe_path
from harness.plugins import load_plugins

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
    plugins: Sequence[str] = (),
    safe: str | None = None,
) -> None:
    """Answer each task with (result, error). `plugins` are the modules that this process loads;
    `safe` is the user's PYTHONSAFEPATH."""
    restore_safe_path(safe)
    interrupt = _Interrupt()
    # The command has ended, or ends by Ctrl-C: its workers end without a traceback.
    with suppress(EOFError, OSError, KeyboardInterrupt):
        try:
            _listen(interrupt)
            _answer(pipe, work, plugins, interrupt)
        finally:
            interrupt.is_raised = True


def _answer(
    pipe: Connection, work: Callable[[Any], Any], plugins: Sequence[str], interrupt: _Interrupt
) -> NoReturn:
    """Answer tasks until the pipe ends. Objects that the first task leaves, such as modules, stay,
    so the garbage collector skips them."""
    is_first = True
    while True:
        task = pipe.recv()
        interrupt.begin()
        said = _done(work, plugins, task)
        interrupt.works = False
        pipe.send_bytes(said)
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
