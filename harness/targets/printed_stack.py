"""The stack that a program printed as it crashed: Node's and Python's forms.

A program in another process shows its exception by nothing but its output, in which warnings of an
SDK often stand before it. So the last whole stack is looked for, and what stands around it stays in
the traceback. Frames of packages and of the runtime are not the user's.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.core.values.errors import MachineLacks
from harness.core.values.verdict import CrashPlace
from harness.targets.crash_trace import FRAMES_MAX, Frame, below, crash_place, is_users
from harness.targets.spec import End

_NODE_ERROR = re.compile(r"^(?:Uncaught )?(?P<name>[A-Za-z_$][\w$.]*)(?: \[\w+\])?: ")
_NODE_FRAME = re.compile(
    r"^    at (?:async )?(?:(?P<function>.*?) \()?(?P<file>[^()]+?):(?P<line>\d+):\d+\)?(?: \{)?$"
)
_PYTHON_HEAD = "Traceback (most recent call last):"
_PYTHON_ERROR = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?::|$)")
_PYTHON_FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)$')
_NOT_THE_USERS = ("node:", "/node_modules/")

STACK_MAX_BYTES = 8_000
"""The most bytes of a program's output, from the end, in which its stack is looked for: the SDKs of
Node print the whole answer after it."""

TEXT_MAX = 2_000
"""The most characters of output in a finding about a program that printed no stack."""

SAID_MAX = 400
"""The most characters of an error's own words; the traceback has the rest."""


class PrintedStack(NamedTuple):
    """The error in its own words, and the user's frames, the innermost last."""

    said: str
    frames: tuple[Frame, ...]
    place: CrashPlace | None


def printed_end(
    code: int | None, output: str, folder: str, lack: MachineLacks | None = None
) -> End:
    """Return the end of a program that crashed: told by its stack, else by its last words."""
    stack = printed_stack(output, folder)
    if stack is None:
        return End("crashed", code, output[-TEXT_MAX:].strip(), lack=lack)
    return End(
        "crashed", code, stack.said, tuple(map(str, stack.frames)), stack.place, output, lack
    )


def printed_stack(output: str, folder: str) -> PrintedStack | None:
    """Return the last stack in the output of a program; None without one.

    Files below `folder` are named from there.
    """
    lines = output.splitlines()
    found = [*_of_node(lines), *_of_python(lines)]
    if not found:
        return None
    _, said, frames = max(found, key=lambda each: each[0])
    users = tuple(_frame(*frame, folder) for frame in frames[-FRAMES_MAX:])
    return PrintedStack(said[:SAID_MAX], users, crash_place(users, _name(said)))


_Place = tuple[str, int, str]
"""File, line and function of a frame."""

_Found = tuple[int, str, tuple[_Place, ...]]
"""The line at which a stack begins, the words of its error, and the user's frames."""


def _frame(file: str, line: int, function: str, folder: str) -> Frame:
    named = below(file, folder)
    # A program may print any name: only files of the user's folder are read.
    source = linecache.getline(file, line).strip() if named != file else ""
    return Frame(named, line, function, source)


def _of_node(lines: list[str]) -> Iterator[_Found]:
    """Yield the stacks of Node: the words of an error, then its frames, the innermost first.

    The words may have several lines, so the error is the nearest line above that names one.
    """
    for place, line in enumerate(lines):
        if not _NODE_FRAME.match(line) or (place and _NODE_FRAME.match(lines[place - 1])):
            continue
        above = range(place - 1, max(place - 12, -1), -1)
        first = next((n for n in above if _NODE_ERROR.match(lines[n])), None)
        if first is None:
            continue
        yield first, "\n".join(lines[first:place]), tuple(_node_frames(lines[place:]))[::-1]


def _node_frames(lines: list[str]) -> Iterator[_Place]:
    for line in lines:
        if not (found := _NODE_FRAME.match(line)):
            return
        file = found["file"].removeprefix("file://")
        if not any(part in file for part in _NOT_THE_USERS):
            yield file, int(found["line"]), found["function"] or "<module>"


def _of_python(lines: list[str]) -> Iterator[_Found]:
    """Yield the tracebacks of Python: the frames, the innermost last, then the error."""
    for place, line in enumerate(lines):
        if line != _PYTHON_HEAD:
            continue
        rest = lines[place + 1 :]
        end = next((n for n, each in enumerate(rest) if each[:1] not in ("", " ")), None)
        if end is not None and _PYTHON_ERROR.match(rest[end]):
            yield place, rest[end], tuple(_python_frames(rest[:end]))


def _python_frames(lines: list[str]) -> Iterator[_Place]:
    for line in lines:
        found = _PYTHON_FRAME.match(line)
        if found and is_users(found["file"], "", ""):
            yield found["file"], int(found["line"]), found["function"]


def _name(said: str) -> str:
    found = _NODE_ERROR.match(said) or _PYTHON_ERROR.match(said)
    return found["name"] if found else ""
