from __future__ import annotations

import math
import threading

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import RealClock, VirtualClock, VirtualWait, real_waits
from harness.clock.real_clock import SYSTEM_WAIT_MOST_S
from harness.core.values.errors import RunStopped


@given(st.lists(st.integers(0, 10**9)))
def test_sleeps_add_up_without_rounding(microseconds: list[int]) -> None:
    clock = VirtualClock()
    for duration in microseconds:
        clock.sleep(duration / 1_000_000)
    assert clock.now_us() == sum(microseconds)
    assert [wait.seconds for wait in clock.waits] == [us / 1_000_000 for us in microseconds if us]


def test_a_wait_says_when_it_began_how_long_it_was_and_whose_it_was() -> None:
    clock = VirtualClock(start_ms=500)
    clock.sleep(0.1)
    clock.sleep(2, source="transport")
    assert clock.waits == [VirtualWait(500, 0.1, "sleep"), VirtualWait(600, 2.0, "transport")]
    assert clock.now_ms() == 2600


@given(st.floats(0, 1e300) | st.just(math.inf) | st.none())
def test_no_single_wait_is_longer_than_the_system_knows(seconds: float | None) -> None:
    waits = real_waits(seconds)
    first = next(waits)
    assert first == min(SYSTEM_WAIT_MOST_S, math.inf if seconds is None else seconds)
    assert SYSTEM_WAIT_MOST_S * 1000 < 2**31
    if seconds is None or seconds > SYSTEM_WAIT_MOST_S + 60:
        assert next(waits) <= SYSTEM_WAIT_MOST_S


@pytest.mark.parametrize("seconds", [10.0**7, 10.0**10, 10.0**300, math.inf])
def test_real_time_waits_as_long_as_it_is_asked(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`time.sleep` raises OverflowError for more than 2**63 ns."""
    asked: list[float] = []

    def sleep(each_s: float) -> None:
        asked.append(each_s)
        if len(asked) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("harness.clock.real_clock.real_sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        RealClock().sleep(seconds)
    assert asked == [SYSTEM_WAIT_MOST_S] * 3


def test_advance_lets_time_pass_without_a_record() -> None:
    clock = VirtualClock()
    clock.advance(1.5)
    assert (clock.now_ms(), clock.waits) == (1500, [])


def test_a_jump_moves_the_wall_clock_alone() -> None:
    clock = VirtualClock(epoch_s=1_000_000)
    clock.sleep(1)
    before = clock.monotonic(), clock.now_ms()
    clock.jump(-3_600_000)
    assert (clock.monotonic(), clock.now_ms()) == before
    assert clock.time() == 1_000_000 + 1 - 3600
    assert clock.time_ns() == (1_000_000 + 1 - 3600) * 10**9


def test_rows_that_add_a_number_to_their_time_stay_in_order() -> None:
    clock = VirtualClock()
    rows = [clock.time_ns() + number for number in range(50)] + [clock.time_ns()]
    assert rows == sorted(set(rows))
    later = [clock.time_ns() for _ in range(20_000)]
    assert later == sorted(later)
    assert later[-1] // 10**6 == int(clock.time() * 1000)


@pytest.mark.parametrize(
    ("seconds", "error"), [(-1, ValueError), (math.nan, ValueError), (math.inf, OverflowError)]
)
def test_what_time_sleep_refuses_is_refused(seconds: float, error: type[Exception]) -> None:
    clock = VirtualClock()
    with pytest.raises(error):
        clock.sleep(seconds)
    assert clock.now_ms() == 0


def test_a_wait_past_the_limit_stops_the_run_at_the_limit() -> None:
    clock = VirtualClock(limit_s=100)
    clock.sleep(60)
    with pytest.raises(RunStopped, match=r"limits\.virtual_s"):
        clock.sleep(60)
    assert clock.now_ms() == 100_000
    assert clock.waits[-1] == VirtualWait(60_000, 40.0, "sleep")


def test_threads_lose_no_time() -> None:
    clock = VirtualClock()
    threads = [threading.Thread(target=_sleep_often, args=(clock,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clock.now_ms() == 4 * 50 * 10
    assert len(clock.waits) == 4 * 50


def _sleep_often(clock: VirtualClock) -> None:
    for _ in range(50):
        clock.sleep(0.01)


def test_waits_are_the_same_byte_for_byte_in_two_runs() -> None:
    def waits() -> bytes:
        clock = VirtualClock()
        for attempt in range(10):
            clock.sleep(0.1 * 1.7**attempt)
        return msgspec.json.encode(clock.waits)

    assert waits() == waits()


def test_real_time_counts_from_where_it_is_told() -> None:
    clock = RealClock(start_ms=5000)
    first, began = clock.now_ms(), clock.monotonic()
    clock.sleep(0)
    assert 5000 <= first <= clock.now_ms()
    assert began <= clock.monotonic()


def test_a_jump_of_both_clocks_is_no_wait_and_meets_the_limit() -> None:
    clock = VirtualClock(limit_s=10)
    wall, monotonic = clock.time(), clock.monotonic()
    clock.jump(5_000, 2_000)
    assert (clock.time() - wall, clock.monotonic() - monotonic) == (5, 2)
    assert clock.waits == []
    with pytest.raises(RunStopped):
        clock.jump(0, 9_000)
