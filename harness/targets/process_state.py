"""The process state that a target may change: saved before the run, restored after it.

So the next run in the same process finds the same state. Imports may add to `sys.path` and to the
environment. An import is made once, so these additions stay.
"""

from __future__ import annotations

import gc
import json  # noqa: F401  the functions of these are put back
import os
import random  # noqa: F401
import resource
import signal
import socket  # noqa: F401
import sys
import threading
import time  # noqa: F401
from contextlib import suppress
from types import ModuleType
from typing import Any

from harness.targets.output_capture import copy_of

_STANDARD = (0, 1, 2)

_SYS = ("stdin", "stdout", "stderr", "excepthook", "unraisablehook")
"""Names of `sys` that the next run and the command itself use. A thread cannot start without a
hook."""

_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
"""Their signals end the process, also long after the target that set them has ended."""

_SHARED = ("builtins", "json", "random", "socket", "time")
"""Modules that every run uses; a function that a run replaces would break the later runs."""


class ProcessState:
    """The state of this process at one moment.

    It holds folder, umask, environment, signal handlers, `sys.path`, recursion limit and garbage
    collection. It also holds the imported modules, functions of shared ones, the limit of open
    files, and the standard streams with their file descriptors. Of the timers it holds those that
    were not set: one that was set is the command's. `is_limited`: the limit of open files was
    another one before it was restored.
    """

    def __init__(self) -> None:
        self.folder = _folder()
        self._umask = _umask()
        self._environment = dict(os.environ)
        self._path = list(sys.path)
        self._recursion = sys.getrecursionlimit()
        self._modules = dict(sys.modules)
        self.handlers: dict[int, Any] = {
            number: signal.getsignal(number) for number in signal.valid_signals()
        }
        self._functions = {name: _functions(name) for name in _SHARED}
        self._timers = [number for number in _TIMERS if not any(signal.getitimer(number))]
        self._sys = {name: getattr(sys, name) for name in _SYS}
        self._collects = gc.isenabled()
        self.is_limited = False
        self._open_files = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._files = [(number, _identity(number), copy_of(number)) for number in _STANDARD]

    def restore(self) -> None:
        """Restore the changed parts."""
        self.is_limited = resource.getrlimit(resource.RLIMIT_NOFILE) != self._open_files
        with suppress(OSError, ValueError):  # a lowered hard limit cannot be raised
            resource.setrlimit(resource.RLIMIT_NOFILE, self._open_files)
        for number, before, copy in self._files:
            _put_back(number, before, copy)
        for number in self._timers:
            signal.setitimer(number, 0)
        for name, value in self._sys.items():
            setattr(sys, name, value)
        with suppress(OSError):
            if _folder() != self.folder:
                os.chdir(self.folder)
        os.umask(self._umask)
        sys.setrecursionlimit(self._recursion)
        (gc.enable if self._collects else gc.disable)()
        imported = bool(sys.modules.keys() - self._modules.keys())
        # A second copy of a module of ours has other classes, which nothing else knows.
        sys.modules.update(self._modules)
        for name, functions in self._functions.items():
            _put_functions_back(sys.modules[name], functions)
        self._restore_environment(imported)
        self._restore_path(imported)
        if threading.current_thread() is threading.main_thread():
            self._restore_handlers()

    def _restore_environment(self, imported: bool) -> None:
        for name in os.environ.keys() - self._environment.keys():
            if not imported:
                del os.environ[name]
        for name, value in self._environment.items():
            if os.environ.get(name) != value:
                os.environ[name] = value

    def _restore_path(self, imported: bool) -> None:
        if sys.path != self._path:
            added = [entry for entry in sys.path if entry not in self._path] if imported else []
            sys.path[:] = [*self._path, *added]

    def _restore_handlers(self) -> None:
        for number, handler in self.handlers.items():
            if handler is not None and signal.getsignal(number) != handler:
                # Python refuses this outside the main thread, and for some signals.
                with suppress(OSError, ValueError):
                    signal.signal(number, handler)


def _functions(name: str) -> dict[str, Any]:
    return {key: value for key, value in vars(sys.modules[name]).items() if callable(value)}


def _put_functions_back(module: ModuleType, functions: dict[str, Any]) -> None:
    for name, function in functions.items():
        if getattr(module, name, None) is not function:
            setattr(module, name, function)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder was removed
        return ""


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _identity(number: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _put_back(number: int, before: tuple[int, int] | None, copy: int | None) -> None:
    """Restore a standard descriptor; use the null device if its copy is closed too."""
    if copy is None:
        return
    is_whole = _identity(copy) == before
    if _identity(number) != before:
        if is_whole:
            os.dup2(copy, number)
        else:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            if null not in _STANDARD:
                os.close(null)
    if is_whole:
        os.close(copy)
