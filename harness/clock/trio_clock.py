"""trio in virtual time, by trio's public clock interface.

trio asks its clock how long it may wait only when no task is ready. That is where time jumps to
the next deadline, as in `harness.clock.loop`: not while a worker thread or a socket is under way,
unless nothing has come of it for `PATIENCE_S` of real waiting.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.clock.loop import PATIENCE_S
from harness.clock.meter import RealWaitMeter
from harness.clock.virtual import MICROSECONDS, UPTIME_S, VirtualClock

if TYPE_CHECKING:
    import trio.abc


def virtual_trio_clock(clock: VirtualClock) -> trio.abc.Clock:
    """A clock for `trio.run(main, clock=...)`. Raises ImportError where trio is not installed."""
    import trio

    def under_way() -> bool:
        files = trio.lowlevel.current_statistics().io_statistics
        waiting: int = getattr(files, "tasks_waiting_read", 0)
        waiting += getattr(files, "tasks_waiting_write", 0)
        own_wake_up = 1
        threads = trio.to_thread.current_default_thread_limiter().borrowed_tokens
        return threads > 0 or waiting > own_wake_up

    class JumpingClock(trio.abc.Clock):
        standing: RealWaitMeter | None = None
        reached: float = 0.0

        def start_clock(self) -> None:
            self.standing = None

        def current_time(self) -> float:
            # A deadline can lie a fraction of a microsecond past the moment that stands for it.
            return max(self.reached, clock.monotonic())

        def deadline_to_sleep_time(self, deadline: float) -> float:
            if deadline == math.inf or deadline <= self.current_time():
                return deadline - self.current_time()
            if under_way() and not self.patience_is_over():
                self.standing = RealWaitMeter()
                return PATIENCE_S
            self.standing = None
            clock.pass_until(round((deadline - UPTIME_S) * MICROSECONDS), "loop")
            self.reached = deadline
            return 0

        def patience_is_over(self) -> bool:
            return self.standing is not None and self.standing.waited_s >= PATIENCE_S

    return JumpingClock()
