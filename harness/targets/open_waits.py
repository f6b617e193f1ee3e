"""Where a silent run stands: the line of the user's code of each thread and task that is open.

The stack of a thread in which an event loop waits ends in the loop, and tells nothing of the tasks.
So they stand in its place. Both kinds of loops keep what leads to their tasks in a frame of their
thread, and any thread can read it. The functions of asyncio and trio that list tasks do not work
from outside (trio), or need the loop (asyncio).
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any

from harness.targets.crash_trace import CALLER, Frame, user_frame

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
