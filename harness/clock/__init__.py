"""The only source of time: real time, virtual time, and the real waits that virtual time misses.

`virtual_clock` is the clock as a value, and its patch for synchronous code. `event_loop` serves
asyncio and anyio, and `trio_clock` trio; `timekeeper` moves one clock for all of them and for
threads, and `choices` says who goes first at one moment. `meter` measures the real waits that none
of them sees, and tells them from a busy machine.
"""

from harness.clock.event_loop import VirtualEventLoop as VirtualEventLoop
from harness.clock.event_loop import run_async as run_async
from harness.clock.event_loop import task_turn as task_turn
from harness.clock.event_loop import virtual_event_loops as virtual_event_loops
from harness.clock.meter import RealWaitMeter as RealWaitMeter
from harness.clock.real_clock import RealClock as RealClock
from harness.clock.real_clock import real_monotonic as real_monotonic
from harness.clock.real_clock import real_sleep as real_sleep
from harness.clock.real_clock import real_waits as real_waits
from harness.clock.timekeeper import NewsWait as NewsWait
from harness.clock.trio_clock import run_trio as run_trio
from harness.clock.trio_clock import virtual_trio_clock as virtual_trio_clock
from harness.clock.virtual_clock import Clock as Clock
from harness.clock.virtual_clock import VirtualClock as VirtualClock
from harness.clock.virtual_clock import VirtualWait as VirtualWait
from harness.clock.virtual_clock import virtual_time as virtual_time
