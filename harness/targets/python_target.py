"""The limit in real time: a target that computes or waits for ever is stopped.

In the main thread a timer signal does it, which also ends a blocking system call. Elsewhere the
exception is put into the thread, which ends a loop but not a blocking call.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from harness.clock import real_monotonic
from harness.core.values.errors import RunStopped


class RealTimeOut(RunStopped):
    """`limits.real_s` of real time are over."""


@contextmanager
def deadline(real_s: float) -> Iterator[None]:
    """Raises RealTimeOut in this block after `real_s` seconds of real time."""
    in_main = threading.current_thread() is threading.main_thread()
    with _alarm(real_s) if in_main and hasattr(signal, "setitimer") else _thread_timer(real_s):
        yield


@contextmanager
def _alarm(real_s: float) -> Iterator[None]:
    def stop(signum: int, frame: FrameType | None) -> NoReturn:
        raise RealTimeOut(f"limits.real_s: {real_s:g} s of real time are over")

    began = real_monotonic()
    former_handler = signal.signal(signal.SIGALRM, stop)
    left_s, interval_s = signal.setitimer(signal.ITIMER_REAL, real_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former_handler)
        if left_s:
            rest_s = max(left_s - (real_monotonic() - began), 0.001)
            signal.setitimer(signal.ITIMER_REAL, rest_s, interval_s)


@contextmanager
def _thread_timer(real_s: float) -> Iterator[None]:
    thread = ctypes.c_ulong(threading.get_ident())
    put = ctypes.pythonapi.PyThreadState_SetAsyncExc
    timer = threading.Timer(real_s, put, (thread, ctypes.py_object(RealTimeOut)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
