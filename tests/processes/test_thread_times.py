"""The time in line for a processor: of threads that come and go, and of a machine that is busy."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from harness.clock import RealWaitMeter
from harness.processes import thread_times
from harness.processes.thread_times import BackgroundThread, _WaitingLine, left_out

Times = dict[tuple[int, int], float]


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    """What the kernel says of each thread, set by hand."""
    found: Times = {}
    monkeypatch.setattr(thread_times, "_times", lambda: iter(found.items()))
    return found


def test_a_thread_that_has_ended_keeps_its_time(times: Times) -> None:
    line = _WaitingLine()
    times.update({(1, 1): 2.0, (1, 2): 3.0})
    assert line.total_s() == 5.0
    del times[1, 2]
    times[1, 1] = 2.5
    assert line.total_s() == 5.5
    assert line.total_s() == 5.5


def test_a_thread_with_the_number_of_an_ended_one_begins_anew(times: Times) -> None:
    line = _WaitingLine()
    times[1, 2] = 3.0
    line.total_s()
    times[1, 2] = 0.5
    assert line.total_s() == 3.5


def test_without_the_kernel_s_count_a_late_heartbeat_stands_for_it(times: Times) -> None:
    line = _WaitingLine()
    line.add_late(0.75)
    assert line.total_s() == 0.75
    times[1, 1] = 2.0
    assert line.total_s() == 2.0


def test_a_thread_of_the_harness_is_left_out() -> None:
    over = threading.Event()
    thread = BackgroundThread(target=over.wait)
    thread.start()
    numbers = {thread for _, thread in dict(thread_times._times())}
    over.set()
    thread.join()
    assert thread.native_id not in numbers
    assert threading.get_native_id() in numbers or sys.platform != "linux"


def test_the_number_of_an_ended_thread_of_the_harness_may_be_that_of_a_thread_of_a_run() -> None:
    over = threading.Event()
    thread = BackgroundThread(target=over.wait)
    thread.start()
    assert thread.native_id in left_out()
    over.set()
    thread.join()
    assert thread.native_id not in left_out()


def test_a_real_wait_is_seen() -> None:
    ours, theirs = os.pipe()
    with RealWaitMeter() as meter:
        select.select([ours], [], [], 0.1)
    os.close(ours)
    os.close(theirs)
    assert meter.waited_s > 0.09


@pytest.fixture
def crowd() -> Iterator[None]:
    """Eight programs that compute, on the one processor that this process may use."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    busy = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(8)]
    yield
    for child in busy:
        child.kill()
        child.wait()
    os.sched_setaffinity(0, allowed)


def _compute(seconds: float) -> None:
    end_s = time.thread_time() + seconds
    while time.thread_time() < end_s:
        pass


@pytest.mark.timed
@pytest.mark.skipif(sys.platform != "linux", reason="needs schedstat")
@pytest.mark.usefixtures("crowd")
def test_one_who_waits_for_a_thread_in_line_waits_for_the_machine() -> None:
    """0.3 s of processor time take some 3 s here, and the waiting thread sleeps all the time."""
    thread = threading.Thread(target=_compute, args=(0.3,))
    began_s = time.perf_counter()
    with RealWaitMeter() as meter:
        thread.start()
        while thread.is_alive():
            thread.join(0.1)
            assert meter.waited_s < 0.5  # the meter looks while the thread lives
    assert time.perf_counter() - began_s > 1.0
    assert not meter.exceeded
