from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

import anthropic
import pytest

from harness.clock import VirtualClock, VirtualWait, real_monotonic, real_sleep, virtual_time
from tests.http_library import http

REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
ASK: dict[str, Any] = {
    "model": "claude",
    "max_tokens": 10,
    "messages": [{"role": "user", "content": "hi"}],
}
NAMES = ("sleep", "monotonic", "monotonic_ns", "time", "time_ns", "perf_counter")

pytestmark = pytest.mark.timeout(600)


def overloaded_twice(retry_after: str) -> Callable[[http.Request], http.Response]:
    answers = iter([529, 529, 200])

    def answer(request: http.Request) -> http.Response:
        status = next(answers)
        headers = {"retry-after": retry_after} if status == 529 else {}
        return http.Response(status, headers=headers, json=REPLY)

    return answer


def test_the_anthropic_client_waits_its_retry_after_in_virtual_time() -> None:
    clock = VirtualClock()
    transport = http.MockTransport(overloaded_twice("30"))
    with virtual_time(clock), http.Client(transport=transport) as carrier:
        client = anthropic.Anthropic(api_key="dummy", http_client=carrier)
        message = client.messages.create(**ASK)
    assert message.id == "msg_1"
    assert clock.waits == [VirtualWait(0, 30.0, "sleep"), VirtualWait(30_000, 30.0, "sleep")]


def test_the_functions_tell_and_pass_virtual_time() -> None:
    clock = VirtualClock(epoch_s=1000)
    with virtual_time(clock):
        before = time.monotonic(), time.monotonic_ns()
        time.sleep(90)
        assert time.monotonic() - before[0] == 90
        assert time.monotonic_ns() - before[1] == 90 * 10**9
        assert (time.time(), time.time_ns() // 1000) == (1090.0, 1090 * 10**6)
    assert clock.waits == [VirtualWait(0, 90.0, "sleep")]


def test_the_real_functions_are_back_after_an_exception() -> None:
    before = {name: getattr(time, name) for name in NAMES}
    during: dict[str, Any] = {}

    def run() -> None:
        with virtual_time(VirtualClock()):
            during.update((name, getattr(time, name)) for name in NAMES)
            raise KeyError

    with pytest.raises(KeyError):
        run()
    assert [name for name in NAMES if during[name] is before[name]] == ["perf_counter"]
    assert {name: getattr(time, name) for name in NAMES} == before
    assert (time.sleep, time.monotonic) == (real_sleep, real_monotonic)


def test_a_second_block_inside_the_first_is_refused_and_harms_nothing() -> None:
    clock = VirtualClock()
    with virtual_time(clock):
        second = virtual_time(VirtualClock())
        with pytest.raises(RuntimeError, match="virtual_time is active already"):
            second.__enter__()
        time.sleep(5)
    assert clock.now_ms() == 5000
    assert time.sleep is real_sleep


def test_a_function_kept_past_the_run_is_real_again() -> None:
    clock = VirtualClock()
    with virtual_time(clock):
        from time import monotonic, sleep
    sleep(0)
    assert abs(monotonic() - real_monotonic()) < 5
    assert clock.waits == []


def test_an_error_of_sleep_is_the_programs_to_catch() -> None:
    with virtual_time(VirtualClock()), pytest.raises(ValueError, match="non-negative"):
        time.sleep(-1)


def full_queue() -> None:
    with pytest.raises(queue.Empty):
        queue.Queue[int]().get(timeout=0.01)


def unset_event() -> None:
    assert not threading.Event().wait(0.01)


def condition_without_notice() -> None:
    condition = threading.Condition()
    with condition:
        assert not condition.wait_for(lambda: False, timeout=0.01)


def unfinished_future() -> None:
    with pytest.raises(FutureTimeoutError):
        Future[int]().result(timeout=0.01)


def futures_that_never_complete() -> None:
    with pytest.raises(FutureTimeoutError):
        list(as_completed([Future[int]()], timeout=0.01))


def pool_result() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: 3).result(timeout=600) == 3
        assert list(pool.map(abs, [-1, 2], timeout=600)) == [1, 2]


def joined_thread() -> None:
    hold = threading.Event()
    thread = threading.Thread(target=hold.wait)
    thread.start()
    thread.join(timeout=0.01)
    assert thread.is_alive()
    hold.set()
    thread.join()


def fired_timer() -> None:
    fired = threading.Event()
    threading.Timer(0.01, fired.set).start()
    assert fired.wait(10)


def child_that_outlives_its_timeout() -> None:
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(timeout=0.01)
        child.kill()


@pytest.mark.parametrize(
    "wait",
    [
        full_queue,
        unset_event,
        condition_without_notice,
        unfinished_future,
        futures_that_never_complete,
        pool_result,
        joined_thread,
        fired_timer,
        child_that_outlives_its_timeout,
    ],
)
def test_waits_of_the_standard_library_end_and_move_no_virtual_time(
    wait: Callable[[], None],
) -> None:
    clock = VirtualClock()
    with virtual_time(clock):
        wait()
    assert clock.waits == []


def test_a_tool_that_sleeps_in_a_pool_sleeps_in_virtual_time() -> None:
    clock = VirtualClock()
    with virtual_time(clock), ThreadPoolExecutor(2) as pool:
        pool.submit(time.sleep, 600).result()
    assert clock.waits == [VirtualWait(0, 600.0, "sleep")]


def test_a_poll_for_a_thread_ends() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.set)
    with virtual_time(VirtualClock(limit_s=10_000_000)):
        thread.start()
        while not done.is_set():
            time.sleep(0.05)
    thread.join()
    assert done.is_set()


def test_a_thread_that_was_there_before_does_not_move_the_clock() -> None:
    go_on, over = threading.Event(), threading.Event()

    def other() -> None:
        go_on.wait()
        time.sleep(0.001)
        over.set()

    thread = threading.Thread(target=other)
    thread.start()
    clock = VirtualClock()
    with virtual_time(clock):
        go_on.set()
        thread.join()
    assert (over.is_set(), clock.now_ms()) == (True, 0)


def test_a_pool_that_was_there_before_works_for_the_run() -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        clock = VirtualClock()
        with virtual_time(clock):
            pool.submit(time.sleep, 60).result()
    assert clock.now_ms() == 60_000


def test_a_thread_with_the_number_of_one_that_ended_is_the_run_s() -> None:
    """The kernel gives a new thread the number of one that has ended, at once or soon."""
    over = threading.Event()
    outsider = threading.Thread(target=over.wait)
    outsider.start()
    clock, slept = VirtualClock(), False
    with virtual_time(clock):
        over.set()
        outsider.join()
        for _ in range(100):
            inside = threading.Thread(target=lambda: time.sleep(1 / 100))
            inside.start()
            slept = slept or inside.ident == outsider.ident
            inside.join()
    assert len(clock.waits) == 100
    assert slept or sys.platform != "linux"
