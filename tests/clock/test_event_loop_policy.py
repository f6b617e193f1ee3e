from __future__ import annotations

import asyncio

import anyio
import pytest

from harness.clock import VirtualClock, VirtualEventLoop, VirtualWait, virtual_event_loops

pytestmark = pytest.mark.timeout(600)


def test_loops_that_a_program_starts_itself_run_in_virtual_time() -> None:
    clock = VirtualClock()
    with virtual_event_loops(clock):
        asyncio.run(asyncio.sleep(60))
        anyio.run(anyio.sleep, 3600)
    assert clock.waits == [VirtualWait(0, 60.0, "loop"), VirtualWait(60_000, 3600.0, "loop")]


def test_a_second_loop_beside_the_first_is_an_ordinary_one() -> None:
    clock = VirtualClock()

    async def main() -> bool:
        second = asyncio.new_event_loop()
        second.close()
        return isinstance(second, VirtualEventLoop)

    with virtual_event_loops(clock):
        assert asyncio.run(main()) is False
    assert not clock.driven


def test_ordinary_loops_are_back_after_an_exception() -> None:
    with pytest.raises(KeyError), virtual_event_loops(VirtualClock()):
        raise KeyError
    loop = asyncio.new_event_loop()
    loop.close()
    assert not isinstance(loop, VirtualEventLoop)
