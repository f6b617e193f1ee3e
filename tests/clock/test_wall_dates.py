"""Dates on virtual time: each way to read the wall clock tells the run's moment, and then not."""

from __future__ import annotations

import datetime as dates
import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from threading import Thread
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import VirtualClock
from harness.clock.virtual_clock import EPOCH_S, virtual_time

kept_time, kept_now = time.time, datetime.now

READINGS: dict[str, Callable[[], float]] = {
    "time": lambda: time.time(),
    "time, kept before": kept_time,
    "time_ns": lambda: time.time_ns() / 1e9,
    "clock_gettime": lambda: time.clock_gettime(time.CLOCK_REALTIME),
    "now": lambda: datetime.now().timestamp(),
    "now, kept before": lambda: kept_now().timestamp(),
    "now in UTC": lambda: datetime.now(UTC).timestamp(),
    "of the module": lambda: dates.datetime.now(UTC).timestamp(),
    "gmtime": lambda: float(dates.datetime(*time.gmtime()[:6], tzinfo=UTC).timestamp()),
    "localtime": lambda: time.mktime(time.localtime()),
    "strftime": lambda: float(
        time.mktime(time.strptime(time.strftime("%Y%m%d%H%M%S"), "%Y%m%d%H%M%S"))
    ),
    "today": lambda: datetime.today().timestamp(),
}


@pytest.mark.parametrize("name", READINGS)
def test_dates_follow_the_waits_of_a_run(name: str) -> None:
    read, clock = READINGS[name], VirtualClock()
    with virtual_time(clock):
        first = read()
        time.sleep(90_061)
        later = read()
        clock.jump(-5_000)
        jumped = read()
        clock.pass_downtime(7_000)
        restarted = read()
    assert first == pytest.approx(EPOCH_S, abs=1e-3)
    assert [later - first, jumped - later, restarted - jumped] == pytest.approx(
        [90_061, -5, 7], abs=1e-3
    )
    assert read() > EPOCH_S + 200 * 86_400  # the machine's own date again


@given(st.lists(st.integers(0, 10**12), max_size=9))
def test_no_microsecond_is_lost(waits_us: list[int]) -> None:
    clock = VirtualClock()
    with virtual_time(clock):
        for wait_us in waits_us:
            clock.pass_until(clock.now_us() + wait_us, "sleep")
        now = datetime.now(UTC)
    began = datetime.fromtimestamp(EPOCH_S, UTC)
    assert (now - began) // dates.timedelta(microseconds=1) == sum(waits_us)


def test_a_thread_that_is_not_the_runs_reads_the_machines_clock() -> None:
    said: list[float] = []
    stop, asked = [False], []

    def looks() -> None:
        while not stop[0]:
            if asked:
                said.append(time.time())
                return

    thread = Thread(target=looks)
    thread.start()
    with virtual_time(VirtualClock()):
        asked.append(True)
        thread.join(10)
    stop[0] = True
    assert said
    assert said[0] > EPOCH_S + 200 * 86_400


def test_a_uuid_of_the_time_is_of_the_runs_time() -> None:
    with virtual_time(VirtualClock()):
        made = [uuid.uuid1() for _ in range(3)]
        assert date.today() == datetime.fromtimestamp(EPOCH_S).date()
    assert len(set(made)) == 3
    since_1582_s = made[0].time / 1e7
    assert since_1582_s - 12_219_292_800 == pytest.approx(EPOCH_S, abs=1)


def test_a_test_that_travels_itself_gets_its_own_time_back() -> None:
    time_machine = pytest.importorskip("time_machine")
    with time_machine.travel(0, tick=False):
        with virtual_time(VirtualClock()):
            assert datetime.now(UTC).year == 2026
        assert datetime.now(UTC).year == 1970


def test_a_test_that_freezes_dates_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeDatetime(datetime):
        """The class by which time-machine knows that freezegun is active."""

    monkeypatch.setitem(sys.modules, "freezegun", ModuleType("freezegun"))
    monkeypatch.setattr(dates, "datetime", FakeDatetime)
    with virtual_time(VirtualClock()) as clock:
        time.sleep(7)
        assert clock.now_ms() == 7_000
        assert time.time() == EPOCH_S + 7
