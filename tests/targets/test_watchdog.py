"""The limits of a target in this process, in the main thread and beside it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from harness.core.values.errors import PassedLimit
from harness.processes.resource_usage import Usage
from harness.targets.watchdog import Liveness, Stop, Watchdog, watched


class Idle:
    """Seams at which nothing happens."""

    calls = under_way = 0
    failed = False


IDLE = Idle()


def _spin() -> None:
    with watched(0.05, 4096.0, IDLE):
        _compute()


def test_a_loop_is_stopped_in_the_main_thread() -> None:
    with pytest.raises(PassedLimit, match=r"limits\.real_s") as raised:
        _spin()
    assert raised.value.stop == "computes"


def test_a_blocking_call_is_stopped_in_the_main_thread() -> None:
    with pytest.raises(PassedLimit) as raised, watched(0.05, 4096.0, IDLE):
        threading.Event().wait(30)
    assert raised.value.stop == "hung"


def test_a_loop_is_stopped_in_another_thread() -> None:
    raised = _raised_in_thread(_spin)
    assert isinstance(raised, PassedLimit)
    assert (raised.stop, str(raised)[:7]) == ("computes", "it used")


def _raised_in_thread(call: Callable[[], None]) -> BaseException | None:
    caught: list[BaseException] = []

    def target() -> None:
        try:
            call()
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join(30)
    return caught[0] if caught else None


def test_a_target_that_swallows_its_stop_is_stopped_again() -> None:
    with watched(0.05, 4096.0, IDLE):
        for _ in range(3):
            with pytest.raises(PassedLimit):
                _compute()


def _compute() -> None:
    while True:
        pass


def test_the_alarm_of_the_user_stays_his() -> None:
    rung: list[int] = []
    former = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        with watched(30.0, 4096.0, IDLE):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            while not rung:
                pass
    finally:
        signal.signal(signal.SIGALRM, former)


def test_memory_is_bounded() -> None:
    def blocks() -> Iterator[bytearray]:
        while True:
            yield bytearray(b"x" * 1_000_000)
            time.sleep(0.001)

    with pytest.raises(PassedLimit, match="memory_mb = 50") as raised, watched(30.0, 50.0, IDLE):
        list(blocks())
    assert raised.value.stop == "memory"


def test_no_thread_is_left() -> None:
    before = set(threading.enumerate())
    with watched(30.0, 4096.0, IDLE):
        assert len(set(threading.enumerate()) - before) == 1
    assert set(threading.enumerate()) <= before


def test_another_thread_that_computes_is_not_the_run() -> None:
    over = threading.Event()

    def compute() -> None:
        while not over.is_set():
            pass

    busy = threading.Thread(target=compute)
    busy.start()
    try:
        with pytest.raises(PassedLimit) as raised, watched(0.3, 4096.0, IDLE):
            threading.Event().wait(30)
    finally:
        over.set()
        busy.join()
    assert raised.value.stop == "hung"


@pytest.mark.real
def test_a_heartbeat_that_comes_late_is_a_slow_machine() -> None:
    """Each look at the usage takes longer than a heartbeat may be late, without computing."""
    stops: list[Stop] = []
    stopped = threading.Event()

    def usage() -> Usage:
        time.sleep(0.6)
        return Usage()

    def stop(which: Stop, text: str) -> None:
        stops.append(which)
        stopped.set()

    dog = Watchdog(lambda: Liveness(1.0, 4096.0), usage, IDLE, stop, beat_s=0.01)
    assert stopped.wait(30)
    dog.close()
    assert stops[0] == "slow"
