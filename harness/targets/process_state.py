"""What a target may change in its process beside its run: taken before the run, put back after it.

A run that follows in the same process then meets the same process. A run that imports modules may
add to `sys.path` and to the environment: an import is made once, so these additions stay.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

_STANDARD = (0, 1, 2)


class ProcessState:
    """The state of this process at one moment: folder, umask, environment, signal handlers,
    `sys.path`, recursion limit, and the standard file descriptors."""

    def __init__(self) -> None:
        self.folder = _folder()
        self._umask = _umask()
        self._environment = dict(os.environ)
        self._path = list(sys.path)
        self._recursion = sys.getrecursionlimit()
        self._modules = len(sys.modules)
        self.handlers: dict[int, Any] = {
            number: signal.getsignal(number) for number in signal.valid_signals()
        }
        self._files = [(number, _identity(number), _copy(number)) for number in _STANDARD]

    def restore(self) -> None:
        """Put back what has changed."""
        for number, before, copy in self._files:
            _put_back(number, before, copy)
        with suppress(OSError):
            if _folder() != self.folder:
                os.chdir(self.folder)
        os.umask(self._umask)
        sys.setrecursionlimit(self._recursion)
        imported = len(sys.modules) > self._modules
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
                with suppress(OSError, ValueError):
                    signal.signal(number, handler)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
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


def _copy(number: int) -> int | None:
    try:
        return os.dup(number)
    except OSError:
        return None


def _put_back(number: int, before: tuple[int, int] | None, copy: int | None) -> None:
    """Make a standard descriptor what it was; the null device where its copy is closed too."""
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
