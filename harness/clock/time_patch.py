"""Virtual time under synchronous code: the one patch that the harness allows.

`time.sleep`, `time.monotonic`, `time.time` and their `_ns` forms are replaced while a run lasts.
`time.perf_counter` and `time.process_time` stay real: they measure, and no wait goes by them.

What stands in their place is put there once and asks, at each call, whether a run is on. So code
that kept such a function past the run (`from time import sleep` in a module that was imported
during it) is back in real time when the run is over. Code that kept the real function *before* the
run cannot be seen, nor can waits inside C (`lock.acquire(timeout)`, `select`, sqlite's busy
time-out), nor `datetime.now()`: real waits are what `RealWaitMeter` measures.

The standard library's own waits stay whole: `threading`, `queue` and their like took
`time.monotonic` when they were imported, and the few modules that look it up at each call are told
by name below. Given virtual time they would wait for a clock that stands still because they wait
for it (`as_completed(timeout)`, an asyncio loop of their own), or spin (`subprocess`).
"""

from __future__ import annotations

import queue  # noqa: F401  imported now, so that it takes the real monotonic clock
import sched  # noqa: F401
import socketserver  # noqa: F401
import subprocess  # noqa: F401
import sys
import threading  # noqa: F401
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.clock.virtual_clock import VirtualClock

_REAL: dict[str, Callable[..., Any]] = {
    name: getattr(time, name) for name in ("sleep", "monotonic", "monotonic_ns", "time", "time_ns")
}

_STAY_REAL = frozenset(
    {
        "asyncio.base_events",
        "asyncio.windows_events",
        "concurrent.futures._base",
        "multiprocessing.connection",
        "multiprocessing.managers",
        "multiprocessing.pool",
        "multiprocessing.queues",
        "multiprocessing.synchronize",
        "subprocess",
    }
)

_clock: VirtualClock | None = None


def _stand_in(name: str) -> Callable[..., Any]:
    real = _REAL[name]

    def stand_in(*args: Any) -> Any:
        clock = _clock
        if clock is None or sys._getframe(1).f_globals.get("__name__") in _STAY_REAL:
            return real(*args)
        return getattr(clock, name)(*args)

    stand_in.__name__ = stand_in.__qualname__ = name
    stand_in.__doc__ = real.__doc__
    return stand_in


_STAND_INS = {name: _stand_in(name) for name in _REAL}


@contextmanager
def virtual_time(clock: VirtualClock) -> Iterator[VirtualClock]:
    """Put `clock` under the functions of the module `time` until the block is left.

    The patch is for the whole process; it is taken back however the block ends. Raises
    RuntimeError when another `virtual_time` is on: two clocks cannot both be the time.
    """
    global _clock
    if _clock is not None:
        raise RuntimeError(
            "virtual_time is on already: one process has one time; "
            "leave the first block, or run the second in a process of its own"
        )
    _clock = clock
    try:
        _install(_STAND_INS)
        yield clock
    finally:
        _install(_REAL)
        _clock = None


def _install(functions: dict[str, Callable[..., Any]]) -> None:
    for name, function in functions.items():
        setattr(time, name, function)
