"""Runs a command in a child process, so that user code can neither block nor end this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from harness.scratch import ScratchWorld

_GRACE_S = 3.0


class ChildEnd(NamedTuple):
    """How a child ended: its status, None if it took too long, and what it printed."""

    status: int | None
    out: str
    err: str


def child_command(
    words: Sequence[str],
    limit_s: float | None,
    *,
    shows_notes: bool = False,
    python: str = "",
    world: ScratchWorld | None = None,
) -> ChildEnd:
    """Run a Python (by default this one) with these arguments, and return how it ended.

    `-P`: the modules of the current folder are not found until a target is named.

    It plays in `world`, if one is given, and its output names the paths of the project itself. With
    `shows_notes` its error stream is ours. The child has no standard input. It has its own process
    group, which ends with it.
    """
    with subprocess.Popen(
        [python or sys.executable, "-P", *words], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=None if shows_notes else subprocess.PIPE,
        start_new_session=True, cwd=world.folder if world else None,
        env={**os.environ, **world.env} if world else None,
    ) as child:  # fmt: skip
        try:
            said, noted = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end_group(child)
            said, noted = child.communicate()
            return ChildEnd(None, _text(said, world), _text(noted, world))
        except BaseException:
            _end_group(child)
            raise
    return ChildEnd(child.returncode, _text(said, world), _text(noted, world))


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Ask a child to stop, so that it can stop its children; then kill the rest of its group."""
    with suppress(ProcessLookupError):
        child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _text(data: bytes | None, world: ScratchWorld | None) -> str:
    text = (data or b"").decode("utf-8", "backslashreplace")
    return world.told(text) if world else text
