"""trio beside threads that sleep: their waits overlap on its clock."""

from __future__ import annotations

import threading
import time

import pytest

from harness.clock import VirtualClock, run_trio, virtual_time, virtual_trio_clock
from harness.clock.timekeeper import CHECK_S, NewsWait

trio = pytest.importorskip("trio")
pytestmark = pytest.mark.timeout(60)


def test_threads_and_tasks_sleep_side_by_side() -> None:
    clock = VirtualClock()
    seen: list[tuple[str, int]] = []

    def tool(seconds: float) -> None:
        time.sleep(seconds)
        seen.append(("thread", clock.now_ms()))

    async def main() -> None:
        threading.Thread(target=tool, args=[2]).start()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, tool, 3)
            nursery.start_soon(trio.to_thread.run_sync, tool, 1)
            await trio.sleep(2.5)
            seen.append(("task", clock.now_ms()))

    with virtual_time(clock):
        run_trio(main, clock)
    assert seen == [("thread", 1000), ("thread", 2000), ("task", 2500), ("thread", 3000)]


def test_a_time_out_cuts_off_a_thread_that_sleeps() -> None:
    clock = VirtualClock()

    async def main() -> bool:
        with trio.move_on_after(30) as scope:
            await trio.to_thread.run_sync(time.sleep, 600, abandon_on_cancel=True)
        return bool(scope.cancelled_caught)

    with virtual_time(clock):
        assert run_trio(main, clock)
    assert clock.now_ms() == 30_000


def test_trio_rests_while_another_wait_leads_and_is_poked_when_that_one_ends() -> None:
    clock = VirtualClock()
    keeper, asks = clock.keeper, virtual_trio_clock(clock).beside  # type: ignore[attr-defined]

    async def main() -> None:
        leader = NewsWait(None)
        with keeper.running():
            keeper.enter(leader)
            assert keeper.leads(leader)
            assert asks.pause_s(10) == CHECK_S
            assert trio.lowlevel.current_statistics().run_sync_soon_queue_size == 0
            keeper.leave(leader)
        assert trio.lowlevel.current_statistics().run_sync_soon_queue_size == 1
        asks.leave()

    trio.run(main)


def test_a_poke_after_the_end_of_trio_is_no_error() -> None:
    clock = VirtualClock()
    asks = virtual_trio_clock(clock).beside  # type: ignore[attr-defined]

    async def main() -> None:
        asks.pause_s(10)

    trio.run(main)
    clock.keeper.stop()
    asks.leave()
