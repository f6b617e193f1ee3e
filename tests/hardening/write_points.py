"""The writes of a command and its workers, counted: killed at one, or the disk full from one on.

A `sitecustomize` calls `begin` at the start of each Python process of the command. It counts the
moments at which the process changes the disk: a file opened for writing, a write, a rename, a
removal, a new folder. `WRITE_POINTS` says `kill N` or `full N`. At number N the command and the
process are killed, or that call and each later one that needs room fails with ENOSPC. With N = 0
the command runs to its end. The size of the file `WRITE_POINTS_COUNT` is the count.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
from pathlib import Path
from typing import Any

_NEEDS_ROOM = ("open", "write", "mkdir")
_WATCHED = Path(os.environ.get("WRITE_POINTS_BELOW", os.getcwd()))


class Points:
    """Counts the moments, and strikes at one."""

    def __init__(self, how: str, number: int, counted: str, main: int) -> None:
        self._how, self._number, self._main = how, number, main
        self._counted, self._pid = counted, os.getpid()

    def reach(self, kind: str, path: object) -> None:
        """A call is about to change the disk."""
        if os.getpid() != self._pid or not _is_watched(path):
            return
        seen = self._count()
        if self._how == "kill" and seen == self._number:
            os.kill(self._main, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
        if self._how == "full" and 0 < self._number <= seen and kind in _NEEDS_ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def _count(self) -> int:
        file = _real_open(self._counted, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(file, b".")
            return os.fstat(file).st_size
        finally:
            os.close(file)


def _is_watched(path: object) -> bool:
    if not path or not isinstance(path, (str, bytes, os.PathLike)):
        return False
    text = os.path.abspath(os.fsdecode(path))
    return text.startswith(str(_WATCHED)) and "__pycache__" not in text


_real_open = os.open


def _wrapped(points: Points, name: str, kind: str, module: Any = os, place: int = 0) -> None:
    real = getattr(module, name)

    def call(*args: Any, **named: Any) -> Any:
        points.reach(kind, args[place] if len(args) > place else None)
        return real(*args, **named)

    setattr(module, name, call)


class _CountedFile:
    """An open file whose writes count."""

    def __init__(self, file: Any, path: str, points: Points) -> None:
        self._file, self._path, self._points = file, path, points

    def write(self, data: Any) -> Any:
        """Count, then write."""
        self._points.reach("write", self._path)
        return self._file.write(data)

    def writelines(self, parts: Any) -> None:
        """One write for each part."""
        for part in parts:
            self.write(part)

    def flush(self) -> None:
        """What stood in the buffer reaches the disk here."""
        self._points.reach("write", self._path)
        self._file.flush()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Any:
        return iter(self._file)


def install(points: Points) -> None:
    """Count from here on."""
    real_open = io.open

    def opened(file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
        writes = any(letter in mode for letter in "wax+")
        path = _path_of(file)
        if writes:
            points.reach("open", path)
        made = real_open(file, mode, *args, **named)
        return _CountedFile(made, path, points) if writes and _is_watched(path) else made

    builtins.open = opened  # type: ignore[assignment]
    io.open = opened  # type: ignore[assignment]

    def os_opened(path: Any, flags: int, *args: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            points.reach("open", path)
        return _real_open(path, flags, *args, **named)

    os.open = os_opened
    for name, kind in (("mkdir", "mkdir"), ("unlink", "remove"), ("remove", "remove")):
        _wrapped(points, name, kind)
    for name in ("rename", "replace"):
        _wrapped(points, name, "rename", place=1)


def _path_of(file: Any) -> str:
    if isinstance(file, int):
        try:
            path = os.readlink(f"/proc/self/fd/{file}")
            return path if path.startswith("/") else ""  # a pipe
        except OSError:
            return ""
    return os.fsdecode(file)


def begin() -> None:
    """Count in this process, if the environment asks for it."""
    asked = os.environ.get("WRITE_POINTS")
    if asked:
        main = int(os.environ.setdefault("WRITE_POINTS_MAIN", str(os.getpid())))
        how, number = asked.split()
        install(Points(how, int(number), os.environ["WRITE_POINTS_COUNT"], main))
