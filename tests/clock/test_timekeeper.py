"""Threads, pools and loops beside one another: their waits overlap on one clock."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.clock import VirtualClock, run_async, virtual_event_loops, virtual_time
from harness.processes import thread_states

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


def _woken(seed: int | None, names: str = "abcd") -> str:
    woken: list[str] = []

    def sleeper(name: str) -> None:
        time.sleep(10)
        woken.append(name)

    clock = VirtualClock(seed=seed)
    with virtual_time(clock):
        threads = [threading.Thread(target=sleeper, args=[name]) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert clock.now_ms() == 10_000
    return "".join(woken)


def test_sleeps_in_threads_overlap_and_end_in_the_order_of_the_seed() -> None:
    assert _woken(None) == "abcd"
    orders = [_woken(seed) for seed in range(8)]
    assert len(set(orders)) > 2
    assert orders == [_woken(seed) for seed in range(8)]


def _by_pool(seed: int) -> list[int]:
    woken: list[int] = []

    def call(number: int) -> None:
        time.sleep(3)
        woken.append(number)

    with virtual_time(VirtualClock(seed=seed)) as clock, ThreadPoolExecutor(4) as pool:
        list(pool.map(time.sleep, [0.1] * 4))  # four workers are there, and any may take a call
        list(pool.map(call, range(4)))
    assert clock.now_ms() == 3100
    return woken


def test_the_workers_of_a_pool_wake_in_an_order_of_their_calls() -> None:
    assert len({tuple(_by_pool(seed)) for seed in range(6)}) > 2
    assert {tuple(_by_pool(1)) for _ in range(6)} == {tuple(_by_pool(1))}


def _queue(done: threading.Event) -> None:
    box: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: (box.get(), done.set())).start()
    time.sleep(5)
    box.put("go")


def _lock(done: threading.Event) -> None:
    lock = threading.Lock()

    def second() -> None:
        with lock:
            time.sleep(2)
        done.set()

    with lock:
        threading.Thread(target=second).start()
        time.sleep(3)


def _future(done: threading.Event) -> None:
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(time.sleep, 5)
        pool.submit(lambda: (first.result(), done.set())).result()


def _spin(done: threading.Event) -> None:
    threading.Thread(target=lambda: (time.sleep(5), done.set())).start()
    while not done.is_set():
        time.sleep(0)


def _poll(done: threading.Event) -> None:
    threading.Thread(target=lambda: (time.sleep(5), done.set())).start()
    while not done.is_set():
        time.sleep(0.5)


def _loop_in_a_thread(done: threading.Event) -> None:
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(asyncio.run, asyncio.sleep(5)) for _ in range(2)]
        assert [job.result() for job in jobs] == [None, None]
    done.set()


def _background_loop(done: threading.Event) -> None:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    time.sleep(2)
    asyncio.run_coroutine_threadsafe(asyncio.sleep(3), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    done.set()


def _idle_daemon(done: threading.Event) -> None:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    time.sleep(5)
    done.set()


def _periodic_daemon(done: threading.Event) -> None:
    def beat() -> None:
        while True:
            time.sleep(1)

    threading.Thread(target=beat, daemon=True).start()
    time.sleep(5)
    done.set()


@pytest.mark.parametrize(
    "wait",
    [
        _queue, _lock, _future, _spin, _poll, _loop_in_a_thread, _background_loop, _idle_daemon,
        _periodic_daemon,
    ],
)  # fmt: skip
def test_a_thread_that_waits_for_another_does_not_hold_the_clock(
    wait: Callable[[threading.Event], None],
) -> None:
    done, clock = threading.Event(), VirtualClock(limit_s=1000)
    with virtual_time(clock), virtual_event_loops(clock):
        wait(done)
        assert done.wait(5)
    assert 5000 <= clock.now_ms() <= 5500


def test_a_timer_beside_a_thread_that_works_does_not_spin() -> None:
    """A plain thread with a queue, as aiosqlite has one, is not a job of the event loop."""
    clock = VirtualClock()
    box: queue.SimpleQueue[tuple[asyncio.Future[int], asyncio.AbstractEventLoop]]
    box = queue.SimpleQueue()

    def worker() -> None:
        future, loop = box.get()
        until_s = time.perf_counter() + 0.2
        while time.perf_counter() < until_s:
            pass
        loop.call_soon_threadsafe(future.set_result, 1)

    async def main() -> int:
        threading.Thread(target=worker).start()
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        await asyncio.sleep(1)
        box.put((future, loop))
        looks = 0
        while not (await asyncio.wait([future], timeout=0.05))[0]:
            looks += 1
        return looks

    with virtual_time(clock):
        assert run_async(main, clock) == 0
    assert clock.now_ms() == 1000


def test_a_thread_that_answers_at_once_is_not_met_by_a_timer() -> None:
    """Its news may reach the loop after the loop's last look, and before the thread waits again."""
    clock = VirtualClock()
    box: queue.SimpleQueue[asyncio.Future[None] | None] = queue.SimpleQueue()

    def worker() -> None:
        while (future := box.get()) is not None:
            future.get_loop().call_soon_threadsafe(future.set_result, None)

    async def main() -> None:
        thread = threading.Thread(target=worker)
        thread.start()
        for _ in range(200):
            future = asyncio.get_running_loop().create_future()
            box.put(future)
            await asyncio.wait([future], timeout=0.05)
        box.put(None)
        thread.join()

    with virtual_time(clock):
        run_async(main, clock)
    assert clock.now_ms() == 0


def test_a_thread_that_begins_as_one_of_an_earlier_run_ends_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The number of threads is the same before and after."""
    # trio keeps the idle workers of the tests before this one for 10 s. They count as the run's.
    monkeypatch.setattr(thread_states, "pool_threads", list[threading.Thread])
    ends, goes_on, called = threading.Event(), threading.Event(), list[float]()
    earlier = threading.Thread(target=ends.wait)
    earlier.start()

    def call() -> None:
        goes_on.wait()
        called.append(time.monotonic())

    async def guarded() -> None:
        await asyncio.sleep(1)  # the loop is alone
        assert clock.keeper.is_alone()
        ends.set()
        earlier.join()
        job = asyncio.get_running_loop().run_in_executor(None, call)
        alone = clock.keeper.is_alone()
        goes_on.set()
        assert not alone
        await asyncio.wait_for(job, 900)

    clock = VirtualClock()
    with virtual_time(clock):
        run_async(guarded, clock)
    assert clock.now_ms() == 1000
    assert called
