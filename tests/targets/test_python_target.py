"""The limit in real time, in the main thread and beside it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import pytest

from harness.targets.python_target import RealTimeOut, deadline


def _spin() -> None:
    with deadline(0.05):
        while True:
            pass


def test_a_loop_is_stopped_in_the_main_thread() -> None:
    with pytest.raises(RealTimeOut, match=r"limits\.real_s"):
        _spin()


def test_a_blocking_call_is_stopped_in_the_main_thread() -> None:
    with pytest.raises(RealTimeOut), deadline(0.05):
        threading.Event().wait(30)


def test_a_loop_is_stopped_in_another_thread() -> None:
    assert isinstance(_raised_in_thread(_spin), RealTimeOut)


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


def test_the_former_alarm_is_put_back() -> None:
    former = signal.getsignal(signal.SIGALRM)
    with deadline(30):
        assert signal.getsignal(signal.SIGALRM) is not former
    assert signal.getsignal(signal.SIGALRM) is former
