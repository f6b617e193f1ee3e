from __future__ import annotations

import time

import pytest

from harness.clock import RealWaitMeter, VirtualClock, virtual_time
from harness.clock.meter import LOADED_FACTOR, Patience


class Machine:
    """The clocks of the machine, moved by hand."""

    def __init__(self) -> None:
        self.wall = self.processor = 100.0
        self.ready = self.stalled = 0.0

    def wait(self, seconds: float) -> None:
        self.wall += seconds

    def compute(self, seconds: float) -> None:
        self.wall += seconds
        self.processor += seconds

    def stand_in_line(self, seconds: float) -> None:
        self.wall += seconds
        self.ready += seconds

    def stand_still(self, seconds: float) -> None:
        self.wall += seconds
        self.stalled += seconds


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(time, "perf_counter", lambda: machine.wall)
    monkeypatch.setattr(time, "process_time", lambda: machine.processor)
    for name in ("in_line_s", "own_in_line_s"):
        monkeypatch.setattr(f"harness.processes.thread_times.{name}", lambda: machine.ready)
    monkeypatch.setattr("harness.clock.meter._stalled_s", lambda: machine.stalled)
    return machine


def test_computing_is_no_waiting(machine: Machine) -> None:
    with RealWaitMeter() as meter:
        machine.compute(20)
        machine.wait(0.5)
    assert meter.waited_s == pytest.approx(0.5)
    assert not meter.exceeded


def test_a_busy_machine_makes_nobody_wait(machine: Machine) -> None:
    with RealWaitMeter() as meter:
        machine.stand_in_line(20)
        machine.wait(0.5)
    assert meter.waited_s == pytest.approx(0.5)


@pytest.mark.parametrize(("waited_s", "exceeded"), [(0.5, False), (1.5, True)])
def test_a_slow_disk_makes_no_run_doubtful(
    machine: Machine, waited_s: float, exceeded: bool
) -> None:
    machine.stalled = 1000
    with RealWaitMeter() as meter:
        machine.stand_still(20)
        machine.wait(waited_s)
    machine.stand_still(20)
    assert meter.exceeded is exceeded


def test_waiting_in_a_call_is_not_counted(machine: Machine) -> None:
    with RealWaitMeter() as meter:
        with meter.harness_time():
            machine.wait(10)
            machine.compute(3)
            with meter.harness_time():
                machine.wait(5)
        machine.wait(1.5)
    assert meter.waited_s == pytest.approx(1.5)
    assert meter.exceeded


def test_a_call_that_raises_is_left(machine: Machine) -> None:
    with RealWaitMeter() as meter:
        with pytest.raises(ConnectionError):
            _break_in_a_call(meter, machine)
        machine.wait(2)
    assert meter.waited_s == pytest.approx(2)


def _break_in_a_call(meter: RealWaitMeter, machine: Machine) -> None:
    with meter.harness_time():
        machine.wait(10)
        raise ConnectionError


def test_what_comes_after_the_run_is_not_counted(machine: Machine) -> None:
    with RealWaitMeter() as meter:
        machine.wait(1)
    machine.wait(50)
    assert meter.waited_s == pytest.approx(1)


def test_patience_ends_after_its_real_time(machine: Machine) -> None:
    patience = Patience(1.0)
    machine.compute(0.6)
    assert not patience.is_over
    machine.wait(0.6)
    assert patience.is_over


def test_patience_is_longer_while_threads_stand_in_line(machine: Machine) -> None:
    patience = Patience(1.0)
    machine.stand_in_line(5)
    assert not patience.is_over
    machine.wait(1.1)
    assert patience.is_over


def test_patience_ends_on_a_machine_that_is_always_loaded(machine: Machine) -> None:
    patience = Patience(1.0)
    machine.stand_in_line(LOADED_FACTOR + 1)
    assert patience.is_over


def test_virtual_waits_are_no_real_ones() -> None:
    with RealWaitMeter() as meter, virtual_time(VirtualClock()):
        time.sleep(86_400)
    assert meter.waited_s < 3600
