"""The stack of a target's crash: the user's own frames, and the whole traceback.

A frame is the user's unless its file is in the standard library, an installed package or the
harness. The package of the agent itself always counts.
"""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
import traceback
from collections.abc import Callable, Sequence
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
