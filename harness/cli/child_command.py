"""A command of ours in a child process: what it runs of the user's code cannot hold or end us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

_GRACE_S = 3.0


class ChildEnd(NamedTuple):
    """How a child ended: its status, None if it took too long, and what it printed."""

    status: int | None
    out: str
    err: str


def child_command(words: Sequence[str], limit_s: float, *, shows: bool = False) -> ChildEnd:
    """Run this Python with some words; with `shows` its output goes where ours goes.

    The child has a process group of its own, which ends with it, and no standard input.
    """
    pipe = None if shows else subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe,
        start_new_session=True,
    ) as child:  # fmt: skip
        try:
            out, err = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end_group(child)
            out, err = child.communicate()
            return ChildEnd(None, _text(out), _text(err))
        except BaseException:
            _end_group(child)
            raise
    return ChildEnd(child.returncode, _text(out), _text(err))


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """End a child in order, so that it can end its own; then all that is left of its group."""
    with suppress(ProcessLookupError):
        child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "backslashreplace")
