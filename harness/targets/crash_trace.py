"""The stack of a target's crash: the user's own frames, and the whole traceback.

A frame is the user's unless its file is in the standard library, an installed package or the
harness. The package of the agent itself always counts.

A silent run stands at the line of the user's code of each thread and task that is open.

The stack of a thread in which an event loop waits ends in the loop, and tells nothing of the tasks.
So they stand in its place. Both kinds of loops keep what leads to their tasks in a frame of their
thread, and any thread can read it. The functions of asyncio and trio that list tasks do not work
from outside (trio), or need the loop (asyncio).
"""

from __future__ import annotations

import asyncio
import linecache
import os
import re
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from harness.core.values.verdict import CrashPlace

_STANDARD = tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "platstdlib"))
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_HARNESS = f"{Path(__file__).parents[1]}{os.sep}"
_AGENT = "harness.agent"
CALLER = os.path.join("harness", "targets", "python_target.py")
"""The file that calls the target: the frames outside of it are not the target's."""

FRAMES_MAX, TEXT_MAX = 12, 8_000
"""The most user frames, and the most characters of a traceback, that are kept from the end."""


class Frame(NamedTuple):
    """A place in the user's code: file and line, the function, and the source line."""

    file: str
    line: int
    function: str
    source: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}: {self.source}".rstrip(": ")


def crash_place(frames: Sequence[Frame], error: str) -> CrashPlace | None:
    """Return the innermost of the user's frames as the place of an error; None without one."""
    return CrashPlace(*frames[-1][:3], error) if frames else None


def user_frames(
    trace: TracebackType | None, agent: Callable[..., Any] | None, folder: str
) -> tuple[Frame, ...]:
    """Return the user's frames, the innermost last; files below `folder` are named from there."""
    package = (getattr(agent, "__module__", None) or "").partition(".")[0]
    found: list[Frame] = []
    while trace is not None:
        if frame := user_frame(trace.tb_frame, trace.tb_lineno, package, folder):
            found.append(frame)
        trace = trace.tb_next
    return tuple(found[-FRAMES_MAX:])


def user_frame(frame: FrameType, line: int, package: str, folder: str) -> Frame | None:
    """Return a frame at a line, if it is the user's."""
    code, names = frame.f_code, frame.f_globals
    if not is_users(code.co_filename, str(names.get("__name__")), package):
        return None
    source = linecache.getline(code.co_filename, line, names).strip()
    return Frame(below(code.co_filename, folder), line, code.co_name, source)


_FATAL = re.compile(r'File "([^"]*)", line (\d+) in (\S+)')


def fatal_frames(dump: str, folder: str) -> tuple[Frame, ...]:
    """Return the user's frames in a dump of `faulthandler`, of the thread with the fatal error.

    The dump begins with the innermost frame; frames that called the target are not the user's.
    """
    stack = dump.partition("Current thread")[2].partition("\n\n")[0]
    found: list[Frame] = []
    for file, line, function in _FATAL.findall(stack):
        if file.endswith(CALLER):
            break
        if is_users(file, "", ""):
            text = linecache.getline(file, int(line)).strip()
            found.append(Frame(below(file, folder), int(line), function, text))
    return tuple(found[::-1][-FRAMES_MAX:])


def is_users(file: str, module: str, package: str) -> bool:
    """Whether a file, of this module, is the user's; the `package` of the agent always is."""
    if file.startswith(_HARNESS):
        return package == "harness" and module.startswith(_AGENT)
    if package and module.partition(".")[0] == package:
        return True
    return not (file.startswith(("<", *_STANDARD)) or any(part in file for part in _INSTALLED))


def below(file: str, folder: str) -> str:
    """Return the name of a file, from the folder if it is below."""
    start = f"{folder}{os.sep}"
    return file.removeprefix(start) if folder and file.startswith(start) else file


def whole(error: BaseException) -> str:
    """Return the traceback as Python prints it; only the end of a long one."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:
        text = "".join(traceback.format_tb(error.__traceback__))
    return text[-TEXT_MAX:].strip()


MOST = 12
"""The most places that are listed."""


def open_waits(tasks: Collection[int], folder: str) -> tuple[str, ...]:
    """Return the places of threads, by their kernel numbers, and of the tasks that run in them.

    Equal places are listed once, and files below `folder` are named from there. A thread without a
    frame of the user's is idle: a worker of a pool, for example.
    """
    frames, found = sys._current_frames(), set()
    for thread in threading.enumerate():
        if thread.native_id in tasks:
            found |= {str(place) for place in _places(frames.get(thread.ident or 0), folder)}
    return tuple(sorted(found)[:MOST])


def _places(frame: FrameType | None, folder: str) -> Iterator[Frame]:
    """Yield the place of a thread, or of each task of the loop that waits in it."""
    while frame is not None and not frame.f_code.co_filename.endswith(CALLER):
        if place := user_frame(frame, frame.f_lineno, "", folder):
            yield place
            return
        if coroutines := _coroutines(frame):
            places = (_place(coroutine, folder) for coroutine in coroutines)
            yield from filter(None, places)
            return
        frame = frame.f_back


def _coroutines(frame: FrameType) -> list[Any]:
    """Return the coroutines of the loop whose frame this is; none for another frame."""
    if frame.f_code is _ASYNCIO:
        return [task.get_coro() for task in asyncio.all_tasks(frame.f_locals["self"])]
    if frame.f_globals.get("__name__") == "trio._core._run" and "runner" in frame.f_locals:
        return [task.coro for task in list(frame.f_locals["runner"].tasks)]
    return []


def _place(coroutine: Any, folder: str) -> Frame | None:
    """Return the innermost of the user's frames of a coroutine and of what it awaits."""
    found: Frame | None = None
    while coroutine is not None:
        if frame := getattr(coroutine, "cr_frame", None):
            found = user_frame(frame, frame.f_lineno, "", folder) or found
        coroutine = getattr(coroutine, "cr_await", None)
    return found


_ASYNCIO = asyncio.BaseEventLoop._run_once.__code__  # type: ignore[attr-defined]
