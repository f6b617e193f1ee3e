"""Tries to import a target in its own process: `python -m` this module SPEC.

The last line of standard output is JSON. `error` is "" after a successful import. `place` is the
line of the project where the import failed or ran out of time.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterable
from threading import Timer
from typing import TYPE_CHECKING, NamedTuple

from harness.cli.child_command import child_command

if TYPE_CHECKING:
    from harness.scratch import ScratchWorld

LIMIT_S = 20.0
"""The time limit of an import."""

_GRACE_S = 3.0


class ImportTrial(NamedTuple):
    """The error of an import ("" for none), and its place in the project."""

    error: str
    place: str = ""


def import_trial(spec: str, world: ScratchWorld | None = None) -> ImportTrial:
    """Try to import a Python target in a child process."""
    words = ["-m", "harness.cli.import_trial", spec, str(LIMIT_S)]
    ended = child_command(words, LIMIT_S + _GRACE_S, world=world)
    for line in reversed(ended.out.splitlines()):
        try:
            found = json.loads(line)
            return ImportTrial(str(found["error"]), str(found["place"]))
        except (ValueError, TypeError, KeyError):
            continue
    if ended.status is None:
        return ImportTrial(f"its import takes more than {LIMIT_S:g} s")
    return ImportTrial(f"its import ends the process with status {ended.status}")


def _tell(error: str, place: str) -> None:
    # The module may have printed half a line, so the JSON begins on a new one.
    os.write(1, f"\n{json.dumps({'error': error, 'place': place})}\n".encode())


def _place(frames: Iterable[traceback.FrameSummary]) -> str:
    """Return the deepest frame in a file of the current folder."""
    start = os.path.join(os.getcwd(), "")
    own = [frame for frame in frames if frame.filename.startswith(start)
           and "site-packages" not in frame.filename]  # fmt: skip
    return f"{own[-1].filename.removeprefix(start)}:{own[-1].lineno}" if own else ""


def _give_up(limit_s: float) -> None:
    """After the limit, print where the import is, and end the process."""
    stacks = (traceback.extract_stack(frame) for frame in sys._current_frames().values())
    place = next((found for stack in stacks if (found := _place(stack))), "")
    _tell(f"its import takes more than {limit_s:g} s", place)
    os._exit(1)


def _main(spec: str, limit_s: float) -> None:
    from harness.core.values.errors import InputError
    from harness.targets.spec import resolve

    timer = Timer(limit_s, _give_up, [limit_s])
    timer.daemon = True
    timer.start()
    try:
        resolve(spec)
    except InputError as error:
        cause = error.__cause__
        frames = traceback.extract_tb(cause.__traceback__) if cause else ()
        place = _place(frames)
        if isinstance(cause, SyntaxError) and cause.filename:
            place = f"{os.path.relpath(cause.filename)}:{cause.lineno}"
        _tell(error.what, place)
    else:
        _tell("", "")
    os._exit(0)  # threads of the module may still run and would keep the process alive


if __name__ == "__main__":
    _main(sys.argv[1], float(sys.argv[2]))
