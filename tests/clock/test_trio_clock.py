from __future__ import annotations

import hashlib

import pytest

from harness.clock import VirtualClock, VirtualWait, run_trio, virtual_trio_clock

trio = pytest.importorskip("trio")
pytestmark = pytest.mark.timeout(30)


def test_sleeps_and_time_outs_pass_at_once_and_in_order() -> None:
    clock = VirtualClock()
    seen: list[int] = []

    async def sleeper(seconds: float) -> None:
        await trio.sleep(seconds)
        seen.append(clock.now_ms())

    async def main() -> None:
        with trio.move_on_after(3600):
            async with trio.open_nursery() as nursery:
                for seconds in (0.7, 0.1, 7200, 0.3):
                    nursery.start_soon(sleeper, seconds)
        seen.append(clock.now_ms())

    trio.run(main, clock=virtual_trio_clock(clock))
    assert seen == [100, 300, 700, 3_600_000]
    assert clock.waits == [
        VirtualWait(0, 0.1, "loop"),
        VirtualWait(100, 0.2, "loop"),
        VirtualWait(300, 0.4, "loop"),
        VirtualWait(700, 3599.3, "loop"),
    ]


@pytest.mark.parametrize("seconds", [float("inf"), 1e305])
def test_a_sleep_without_end_holds_up_no_other_task(seconds: float) -> None:
    clock = VirtualClock(limit_s=100)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(trio.sleep, seconds)
            await trio.sleep(3)
            nursery.cancel_scope.cancel()

    run_trio(main, clock)
    assert clock.now_ms() == 3000


def test_the_clock_stands_still_while_a_thread_works() -> None:
    clock = VirtualClock()

    async def main() -> str:
        with trio.fail_after(5):
            await trio.to_thread.run_sync(hashlib.pbkdf2_hmac, "sha256", b"", b"", 50_000)
        return "done"

    assert trio.run(main, clock=virtual_trio_clock(clock)) == "done"
    assert clock.waits == []
