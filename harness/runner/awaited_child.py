"""Waits for a forked child, and kills one whose target nothing else can end.

A child tells an error of the user's files in words, from which its parent makes the error again.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection

from harness.core.values.errors import InputError, PackageMissing
from harness.processes.life_signs import KILLED_AT, LOOK_S, SIGNS, Overseer
from harness.targets import End
from harness.targets.watchdog import STOPS, Stop

_POLL_S = 0.02
"""The interval of looks at a child where the system has no descriptor for it."""


def awaited(child: int, overseer: Overseer, real_s: float) -> tuple[int, End | None]:
    """Return the exit status of a child, and the end of one that was overdue and is killed.

    `real_s` is the limit of its run, in seconds."""
    overdue: End | None = None
    while True:
        # This process looks for signs of life itself, so its own owner sees that it waits.
        SIGNS.beat()
        with _ending_of(child) as ended:
            connection.wait([ended] if ended is not None else [], LOOK_S if ended else _POLL_S)
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), overdue
        if overdue is None and overseer.is_overdue():
            overdue = _overdue_end(overseer, real_s)
            os.kill(child, signal.SIGKILL)


@contextmanager
def _ending_of(child: int) -> Iterator[int | None]:
    """A descriptor that is ready when a child has ended; None without such (only Linux has it)."""
    try:
        descriptor = os.pidfd_open(child)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _overdue_end(overseer: Overseer, real_s: float) -> End:
    """Return the end of a target that only its process could end."""
    told = f"its process was killed at {KILLED_AT} times the limit (limits.real_s is {real_s:g})"
    if overseer.stop:
        return End(STOPS[overseer.stop - 1], None, f"it goes on after it was stopped; {told}")
    how: Stop = "computes" if overseer.computed_s >= overseer.silent_s else "hung"
    return End(how, None, f"one call of it holds the interpreter and does not return; {told}")


def refusal_words(error: InputError) -> list[str]:
    """Return an error of the user's files as its kind and its text."""
    if isinstance(error, PackageMissing):
        return ["package", error.package, error.extra, error.user, error.place]
    return ["input", error.what, error.place]


def refusal_of(kind: str, words: Sequence[str]) -> InputError:
    """Return the error that a child has told."""
    return PackageMissing(*words) if kind == "package" else InputError(*words)
