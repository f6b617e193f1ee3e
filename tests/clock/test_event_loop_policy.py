from __future__ import annotations

import asyncio

import anyio
import pytest

from harness.clock import (
    VirtualClock,
    VirtualEventLoop,
    VirtualWait,
    virtual_event_loops,
    virtual_time,
)

pytestmark = pytest.mark.timeout(600)


def test_loops_that_a_program_starts_itself_run_in_virtual_time() -> None:
    clock = VirtualClock()
    with virtual_event_loops(clock):
        asyncio.run(asyncio.sleep(60))
        anyio.run(anyio.sleep, 3600)
    assert clock.waits == [VirtualWait(0, 60.0, "loop"), VirtualWait(60_000, 3600.0, "loop")]


def test_loops_in_two_threads_share_the_clock() -> None:
    clock = VirtualClock()

    async def main() -> None:
        await asyncio.gather(asyncio.to_thread(asyncio.run, asyncio.sleep(10)), asyncio.sleep(10))

    with virtual_time(clock), virtual_event_loops(clock):
        asyncio.run(main())
    assert clock.now_ms() == 10_000


def test_ordinary_loops_are_back_after_an_exception() -> None:
    with pytest.raises(KeyError), virtual_event_loops(VirtualClock()):
        raise KeyError
    loop = asyncio.new_event_loop()
    loop.close()
    assert not isinstance(loop, VirtualEventLoop)
