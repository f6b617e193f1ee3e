"""Work for engines that are tested, at module level, as every worker must find it."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path

import msgspec

from harness.parts.loading import loaded
from harness.processes.life_signs import playing


class Task(msgspec.Struct, frozen=True):
    """A number to be squared; `dies` names a file that a worker creates before it dies, so that the
    next one lives; `always` dies each time. `waits` names a pipe that somebody closes. `litters`
    writes on all descriptors. `stuck` names a file like `dies`: the first worker gives no sign of
    life in its run.
    """

    number: int
    dies: str = ""
    always: bool = False
    fails: bool = False
    waits: str = ""
    litters: bool = False
    stuck: str = ""


def square(task: Task) -> tuple[int, int]:
    """The square, and who did it."""
    if task.always or (task.dies and not Path(task.dies).exists()):
        if task.dies:
            Path(task.dies).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if task.litters:
        _litter()
    if task.stuck and not Path(task.stuck).exists():
        Path(task.stuck).touch()
        _hold_the_interpreter()
    if task.waits:
        Path(task.waits).read_bytes()
    if task.fails:
        raise ValueError(f"{task.number} fails")
    return task.number**2, os.getpid()


def _litter() -> None:
    """Write on all descriptors but the standard ones, as a target might."""
    for descriptor in range(3, 64):
        with suppress(OSError):
            os.write(descriptor, b"\x7f\xff\xff\xff litter" * 100)


def _hold_the_interpreter() -> None:
    with playing(0.1):
        ctypes.PyDLL(None).sleep(100_000)


def lost(task: Task) -> tuple[int, int]:
    """The message for a task that no worker survives."""
    return -task.number, 0


def prefixes(number: int) -> tuple[str, ...]:
    """The prefixes of the plug-ins that the worker has loaded."""
    return tuple(plugin.prefix for plugin in loaded())
