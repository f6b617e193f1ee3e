"""How a virtual event loop ends: leftovers, what main raises, and the limits of both times."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from harness.clock import (
    VirtualClock,
    real_monotonic,
    run_async,
    virtual_time,
)
from harness.core.values.errors import RunStopped

pytestmark = pytest.mark.timeout(600)


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


def test_a_thread_of_a_stopped_run_does_not_move_the_clock_of_the_next() -> None:
    """Whether it sleeps when its run is stopped, or computes and sleeps later."""
    go_on, over = threading.Event(), threading.Event()
    ended: list[str] = []

    def tool(name: str, first: Callable[[], object]) -> None:
        try:
            first()
            while True:
                time.sleep(30)
        except RunStopped as stopped:
            ended.append(f"{name}: {stopped}")
            over.set()

    async def both() -> None:
        busy = asyncio.to_thread(tool, "computed", lambda: _compute_until(go_on))
        await asyncio.gather(busy, asyncio.to_thread(tool, "slept", lambda: time.sleep(30)))

    clock = VirtualClock(limit_s=100)
    with pytest.raises(RunStopped), virtual_time(clock):
        run_async(both, clock, check=_after(0.2))
    assert over.wait(20)
    over.clear()
    later = VirtualClock()
    with virtual_time(later):
        go_on.set()
        assert over.wait(20)
    text = "the run of this thread was stopped"
    assert ended == [f"slept: {text}", f"computed: {text}"]
    assert later.now_ms() == 0


def _compute_until(over: threading.Event) -> None:
    while not over.is_set():
        hashlib.pbkdf2_hmac("sha256", b"", b"", 10_000)


def _after(seconds: float) -> Callable[[], None]:
    """What raises once so much real time is over."""
    until_s = real_monotonic() + seconds

    def check() -> None:
        if real_monotonic() > until_s:
            raise RunStopped("the run is over")

    return check


async def _wait_for_nobody() -> None:
    await asyncio.Event().wait()


async def _never_rest() -> None:
    while True:
        await asyncio.sleep(0)


@pytest.mark.parametrize("main", [_wait_for_nobody, _never_rest])
def test_real_time_is_bounded(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    clock = VirtualClock()
    with pytest.raises(RunStopped, match="over"):
        run_async(main, clock, check=_after(0.05))
    assert clock.waits == []
