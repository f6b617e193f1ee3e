"""The virtual event loop with sleeps that block: side by side in threads, alone in a task."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import anyio
import anyio.to_thread
import pytest

from harness.clock import VirtualClock, VirtualWait, run_async, virtual_time

pytestmark = pytest.mark.timeout(600)


def _woken_tools(threads: int) -> list[tuple[int, int]]:
    clock = VirtualClock()
    woken: list[tuple[int, int]] = []

    def tool(number: int, seconds: float) -> None:
        time.sleep(seconds)
        woken.append((number, clock.now_ms()))

    async def main() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(threads))
        tools = [asyncio.to_thread(tool, n, s) for n, s in enumerate([3, 1, 2, 2, 1])]
        await asyncio.gather(*tools)

    with virtual_time(clock):
        run_async(main, clock)
    return woken


@pytest.mark.parametrize(
    ("threads", "woken"),
    [
        (5, [(1, 1000), (4, 1000), (2, 2000), (3, 2000), (0, 3000)]),
        (2, [(1, 1000), (0, 3000), (2, 3000), (4, 4000), (3, 5000)]),
        (1, [(0, 3000), (1, 4000), (2, 6000), (3, 8000), (4, 9000)]),
    ],
)
def test_tools_that_sleep_in_threads_sleep_side_by_side_and_wake_in_order(
    threads: int, woken: list[tuple[int, int]]
) -> None:
    assert _woken_tools(threads) == woken


def test_tools_that_wake_at_one_moment_wake_in_the_order_of_their_calls() -> None:
    woken: list[int] = []

    def tool(number: int) -> None:
        time.sleep(1)
        woken.append(number)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(anyio.to_thread.run_sync, tool, number)

    clock = VirtualClock()
    with virtual_time(clock):
        run_async(main, clock)
    assert woken == list(range(8))
    assert clock.waits == [VirtualWait(0, 1.0, "sleep")]


@pytest.mark.parametrize(
    "in_thread",
    [asyncio.to_thread, lambda tool: anyio.to_thread.run_sync(tool, abandon_on_cancel=True)],
    ids=["asyncio", "anyio"],
)
def test_a_time_out_cuts_off_a_tool_that_sleeps_in_a_thread(
    in_thread: Callable[[Callable[[], None]], Awaitable[None]],
) -> None:
    clock = VirtualClock()
    seen: list[tuple[str, int]] = []

    def tool() -> None:
        time.sleep(600)
        seen.append(("tool", clock.now_ms()))

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_thread(tool), 30)
        seen.append(("time-out", clock.now_ms()))
        await asyncio.sleep(1000)

    with virtual_time(clock):
        run_async(main, clock)
    assert seen == [("time-out", 30_000), ("tool", 600_000)]
    assert [(wait.seconds, wait.source) for wait in clock.waits] == [
        (30.0, "loop"),
        (570.0, "sleep"),
        (430.0, "loop"),
    ]


def test_a_thread_that_still_sleeps_at_the_end_is_waited_for_in_virtual_time() -> None:
    clock = VirtualClock()
    effects: list[int] = []

    def tool() -> None:
        time.sleep(600)
        effects.append(clock.now_ms())

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(tool), 30)

    with virtual_time(clock):
        run_async(main, clock)
    assert effects == [600_000]


def test_a_blocking_sleep_in_a_task_delays_the_timers_of_the_others() -> None:
    clock = VirtualClock()
    woken: list[int] = []

    async def other() -> None:
        await asyncio.sleep(1)
        woken.append(clock.now_ms())

    async def main() -> None:
        task = asyncio.create_task(other())
        await asyncio.sleep(0)
        time.sleep(10)
        await task

    with virtual_time(clock):
        run_async(main, clock)
    assert woken == [10_000]
