"""The virtual event loop: sleeps, timeouts and retries of a real client pass at once, in order."""

from __future__ import annotations

import asyncio
import math

import anthropic
import anyio
import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import VirtualClock, VirtualWait, run_async
from tests.clock.test_time_patch import ASK, overloaded_twice
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
    assert clock.waits == [VirtualWait(0, 30.0, "loop"), VirtualWait(30_000, 30.0, "loop")]


def test_sleeps_of_both_libraries_pass_at_once_and_are_on_record() -> None:
    clock = VirtualClock()

    async def main() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0.3)
        await anyio.sleep(2)
        await clock.asleep(0.5)

    run_async(main, clock)
    assert clock.waits == [
        VirtualWait(0, 0.3, "loop"),
        VirtualWait(300, 2.0, "loop"),
        VirtualWait(2300, 0.5, "loop"),
    ]


def test_a_sleep_of_many_days_is_one_wait() -> None:
    clock = VirtualClock()
    run_async(lambda: asyncio.sleep(10 * 86_400), clock)
    assert clock.waits == [VirtualWait(0, 864_000.0, "loop")]


@pytest.mark.parametrize("seconds", [math.inf, 1e305])
def test_a_sleep_without_end_holds_up_no_other_task(seconds: float) -> None:
    """`anyio.sleep_forever` is a timer at infinity, which no whole number of microseconds is."""
    clock = VirtualClock(limit_s=100)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)
            group.start_soon(anyio.sleep, seconds)
            await anyio.sleep(3)
            await anyio.to_thread.run_sync(lambda: None)
            group.cancel_scope.cancel()

    run_async(main, clock)
    assert clock.now_ms() == 3000


def test_a_loop_that_only_sleeps_without_end_meets_the_check() -> None:
    class Over(Exception):
        pass

    def check() -> None:
        raise Over

    with pytest.raises(Over):
        run_async(anyio.sleep_forever, VirtualClock(limit_s=100), check=check)


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
