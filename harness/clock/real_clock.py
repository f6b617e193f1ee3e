"""Real time, as it was before any run: functions that no patch reaches, and the real clock."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Literal

real_sleep = time.sleep
real_monotonic = time.monotonic

SYSTEM_WAIT_MOST_S = 86_400.0
"""The longest single wait that is asked of the system. `epoll_wait` takes 2**31 ms (24 days), a
lock and `time.sleep` 2**63 ns; above that they raise OverflowError at once, and wait for nothing.
"""

Source = Literal["sleep", "loop", "transport"]


def real_waits(seconds: float | None) -> Iterator[float]:
    """The single waits, in seconds, that make up a real wait; without an end for None.

    Every real wait whose length comes from outside goes through here.
    """
    until_s = real_monotonic() + (math.inf if seconds is None else seconds)
    left_s = until_s if seconds is None else seconds  # a wait of 0 s is one too
    while True:
        yield min(left_s, SYSTEM_WAIT_MOST_S)
        left_s = until_s - real_monotonic()
        if left_s <= 0:
            return


class RealClock:
    """Real time, counted from the creation of this clock."""

    def __init__(self, start_ms: int = 0) -> None:
        self._start_ms = start_ms
        self._began = real_monotonic()

    def now_ms(self) -> int:
        """Milliseconds since the run began."""
        return self._start_ms + int((real_monotonic() - self._began) * 1000)

    def monotonic(self) -> float:
        """The machine's monotonic clock, in seconds."""
        return real_monotonic()

    def sleep(self, seconds: float) -> None:
        """Really wait in this thread."""
        for each_s in real_waits(seconds):
            real_sleep(each_s)

    async def asleep(self, seconds: float) -> None:
        """Really wait in this task, under asyncio or trio."""
        import anyio

        for each_s in real_waits(seconds):
            await anyio.sleep(each_s)
