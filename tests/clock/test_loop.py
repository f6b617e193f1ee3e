from __future__ import annotations

import asyncio
import hashlib
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import anyio
import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import (
    VirtualClock,
    VirtualEventLoop,
    Wait,
    run_async,
    virtual_time,
)
from harness.core.errors import RunStopped
from tests.clock.test_patched import ASK, overloaded_twice
from tests.http_library import http

pytestmark = pytest.mark.timeout(30)


def test_the_async_anthropic_client_waits_its_retry_after_in_virtual_time() -> None:
    clock = VirtualClock()

    async def main() -> str:
        transport = http.MockTransport(overloaded_twice("30"))
        async with http.AsyncClient(transport=transport) as carrier:
            client = anthropic.AsyncAnthropic(api_key="dummy", http_client=carrier)
            message = await client.messages.create(**ASK)
        return str(message.id)

    assert run_async(main, clock) == "msg_1"
    assert clock.waits == [Wait(0, 30.0, "loop"), Wait(30_000, 30.0, "loop")]


def test_sleeps_of_both_libraries_pass_at_once_and_are_on_record() -> None:
    clock = VirtualClock()

    async def main() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0.3)
        await anyio.sleep(2)
        await clock.asleep(0.5)

    run_async(main, clock)
    assert clock.waits == [Wait(0, 0.3, "loop"), Wait(300, 2.0, "loop"), Wait(2300, 0.5, "loop")]


def test_a_sleep_of_many_days_is_one_wait() -> None:
    clock = VirtualClock()
    run_async(lambda: asyncio.sleep(10 * 86_400), clock)
    assert clock.waits == [Wait(0, 864_000.0, "loop")]


@given(st.lists(st.integers(0, 10**10), max_size=30))
def test_sleeps_end_in_order_and_at_their_exact_moment(microseconds: list[int]) -> None:
    clock = VirtualClock()
    ends: list[tuple[int, int]] = []

    async def sleeper(duration: int) -> None:
        await asyncio.sleep(duration / 1_000_000)
        ends.append((clock.now_us(), duration))

    async def main() -> None:
        await asyncio.gather(*map(sleeper, microseconds))

    run_async(main, clock)
    assert [end for end, _ in ends] == sorted(microseconds)
    assert all(abs(end - duration) <= 1 for end, duration in ends)


def test_timeouts_fire_in_order_over_virtual_sleeps() -> None:
    clock = VirtualClock()
    seen: list[tuple[str, int]] = []

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.sleep(31)
        seen.append(("timeout", clock.now_ms()))
        assert await asyncio.wait_for(asyncio.sleep(29, "done"), 30) == "done"
        seen.append(("in time", clock.now_ms()))
        with anyio.move_on_after(1) as scope:
            await anyio.sleep(2)
        seen.append((f"moved on: {scope.cancelled_caught}", clock.now_ms()))

    run_async(main, clock)
    assert seen == [("timeout", 30_000), ("in time", 59_000), ("moved on: True", 60_000)]


def _work() -> str:
    """Real work that lets other threads run: some tens of milliseconds of hashing."""
    hashlib.pbkdf2_hmac("sha256", b"", b"", 50_000)
    return "done"


async def _in_a_thread() -> str:
    return await asyncio.to_thread(_work)


async def _in_an_anyio_thread() -> str:
    return await anyio.to_thread.run_sync(_work)


@pytest.mark.parametrize("work", [_in_a_thread, _in_an_anyio_thread])
def test_the_clock_stands_still_while_a_thread_works(
    work: Callable[[], Coroutine[Any, Any, str]],
) -> None:
    clock = VirtualClock()

    async def main() -> str:
        beat = asyncio.create_task(asyncio.sleep(7))
        result = await asyncio.wait_for(work(), 5)
        beat.cancel()
        return result

    assert run_async(main, clock) == "done"
    assert clock.waits == []


def test_the_clock_stands_still_while_a_socket_is_read() -> None:
    clock = VirtualClock()
    ours, theirs = socket.socketpair()
    ours.setblocking(False)

    def send() -> None:
        _work()
        theirs.send(b"hello")

    async def main() -> bytes:
        thread = threading.Thread(target=send)
        thread.start()
        got = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(ours, 100), 5)
        thread.join()
        return got

    with ours, theirs:
        assert run_async(main, clock) == b"hello"
    assert clock.waits == []


def test_the_clock_stands_still_while_a_child_runs() -> None:
    clock = VirtualClock()

    async def main() -> int:
        child = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", "pass")
        return await asyncio.wait_for(child.wait(), 5)

    assert run_async(main, clock) == 0
    assert clock.waits == []


def test_an_idle_connection_does_not_hold_the_clock_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.clock.loop.PATIENCE_S", 0.01)
    clock = VirtualClock()
    ours, theirs = socket.socketpair()

    async def main() -> None:
        asyncio.get_running_loop().add_reader(ours, lambda: None)
        await asyncio.sleep(3600)
        asyncio.get_running_loop().remove_reader(ours)

    with ours, theirs:
        run_async(main, clock)
    assert clock.waits == [Wait(0, 3600.0, "loop")]


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
    assert clock.waits == [Wait(0, 1.0, "sleep")]


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


def test_leftovers_are_cancelled_and_the_clock_is_free_again() -> None:
    clock = VirtualClock()
    closed: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closed.append("task")

    async def main() -> None:
        main.leftover = asyncio.create_task(forever())  # type: ignore[attr-defined]
        await asyncio.sleep(1)

    run_async(main, clock)
    run_async(lambda: asyncio.sleep(1), clock)
    assert closed == ["task"]
    assert clock.now_ms() == 2000
    assert not clock.driven


def test_one_clock_drives_one_loop() -> None:
    clock = VirtualClock()

    async def main() -> None:
        with pytest.raises(RuntimeError, match="drives an event loop already"):
            VirtualEventLoop(clock)
        await asyncio.sleep(1)

    run_async(main, clock)
    assert clock.now_ms() == 1000


def test_what_main_raises_comes_out() -> None:
    async def main() -> None:
        await asyncio.sleep(1)
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        run_async(main, VirtualClock())


def test_a_loop_that_only_waits_is_stopped_at_the_limit_of_virtual_time() -> None:
    clock = VirtualClock(limit_s=100)

    async def main() -> None:
        while True:
            await asyncio.sleep(30)

    with pytest.raises(RunStopped, match=r"limits\.virtual_s"):
        run_async(main, clock)
    assert clock.now_ms() == 100_000


def test_a_thread_that_only_sleeps_is_stopped_at_the_limit_of_virtual_time() -> None:
    clock = VirtualClock(limit_s=100)

    def tool() -> None:
        while True:
            time.sleep(30)

    with pytest.raises(RunStopped, match=r"limits\.virtual_s"), virtual_time(clock):
        run_async(lambda: asyncio.to_thread(tool), clock)
    assert clock.now_ms() == 100_000


async def _wait_for_nobody() -> None:
    await asyncio.Event().wait()


async def _never_rest() -> None:
    while True:
        await asyncio.sleep(0)


@pytest.mark.parametrize("main", [_wait_for_nobody, _never_rest])
def test_real_time_is_bounded(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    clock = VirtualClock()
    with pytest.raises(RunStopped, match=r"limits\.real_s"):
        run_async(main, clock, real_s=0.05)
    assert clock.waits == []
