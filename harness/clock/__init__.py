"""The one place that time comes from: real time, virtual time, and what virtual time cannot see.

`virtual_clock` is the clock as a value. `time_patch` puts it under synchronous code, `event_loop`
(with `worker_threads`) under asyncio and anyio, `trio_clock` under trio. `meter` measures the real
waits that none of them sees.
"""

from harness.clock.event_loop import VirtualEventLoop, run_async, virtual_event_loops
from harness.clock.meter import RealWaitMeter
from harness.clock.trio_clock import run_trio, virtual_trio_clock
from harness.clock.virtual_clock import (
    Clock,
    RealClock,
    VirtualClock,
    VirtualWait,
    real_monotonic,
    real_sleep,
    real_time,
    virtual_time,
)

__all__ = [
    "Clock",
    "RealClock",
    "RealWaitMeter",
    "VirtualClock",
    "VirtualEventLoop",
    "VirtualWait",
    "real_monotonic",
    "real_sleep",
    "real_time",
    "run_async",
    "run_trio",
    "virtual_event_loops",
    "virtual_time",
    "virtual_trio_clock",
]
