"""When the owner of a process kills it, by the signs of life and by what the process does."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from harness.processes import life_signs
from harness.processes.life_signs import AT_LEAST_S, KILLED_AT, LifeSigns, Overseer, end_with


class Machine:
    """The clocks of the machine and of one process, moved by hand."""

    def __init__(self) -> None:
        self.now_s = self.computed_s = 100.0
        self.is_ready = False

    def pass_time(self, wall_s: float, computed_s: float = 0.0) -> None:
        self.now_s += wall_s
        self.computed_s += computed_s


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr("time.monotonic", lambda: machine.now_s)
    monkeypatch.setattr(life_signs, "processor_s", lambda pid: machine.computed_s)
    monkeypatch.setattr(life_signs, "is_ready", lambda pid: machine.is_ready)
    return machine


LIMIT_S = 10.0


def _killed_after(machine: Machine, wall_s: float, used_s: float, signs: LifeSigns) -> float:
    """The seconds until a run is overdue whose looks are all alike; infinite if it never is."""
    overseer = Overseer(1, signs)
    overseer.is_overdue()
    begun_s = machine.now_s
    for _ in range(1000):
        machine.pass_time(wall_s, used_s)
        if overseer.is_overdue():
            return machine.now_s - begun_s
    return float("inf")


@pytest.fixture
def playing() -> LifeSigns:
    signs = LifeSigns()
    signs.begin(LIMIT_S)
    return signs


@pytest.mark.parametrize("used_s", [0.5, 0.0])
def test_a_run_without_a_heartbeat_is_overdue(
    machine: Machine, playing: LifeSigns, used_s: float
) -> None:
    assert _killed_after(machine, 0.5, used_s, playing) == KILLED_AT * LIMIT_S


def test_a_run_that_goes_on_after_its_stop_is_overdue(machine: Machine, playing: LifeSigns) -> None:
    playing.stop(1)
    assert _killed_after(machine, 0.5, 0.5, playing) == (KILLED_AT - 1) * LIMIT_S


def test_a_heartbeat_is_no_life_after_a_stop(machine: Machine, playing: LifeSigns) -> None:
    playing.stop(1)
    overseer, looks = Overseer(1, playing), 0
    while not overseer.is_overdue():
        playing.beat()
        machine.pass_time(0.5, 0.5)
        looks += 1
    assert looks * 0.5 == (KILLED_AT - 1) * LIMIT_S


def test_a_run_with_a_heartbeat_and_a_process_between_runs_are_never_overdue(
    machine: Machine, playing: LifeSigns
) -> None:
    overseer = Overseer(1, playing)
    for _ in range(1000):
        playing.beat()
        machine.pass_time(0.5, 0.5)
        assert not overseer.is_overdue()
    playing.end()
    assert _killed_after(machine, 0.5, 0.5, playing) == float("inf")


def test_a_process_in_line_for_a_processor_is_not_silent(
    machine: Machine, playing: LifeSigns
) -> None:
    machine.is_ready = True
    assert _killed_after(machine, 0.5, 0.0, playing) == float("inf")


def test_a_machine_that_slept_is_one_look(machine: Machine, playing: LifeSigns) -> None:
    overseer = Overseer(1, playing)
    overseer.is_overdue()
    machine.pass_time(3600.0)
    assert not overseer.is_overdue()


def test_a_tiny_limit_leaves_time_to_end(machine: Machine) -> None:
    signs = LifeSigns()
    signs.begin(0.001)
    assert _killed_after(machine, 0.125, 0.0, signs) == AT_LEAST_S


@pytest.fixture
def child() -> Iterator[Callable[[Callable[[], object]], int]]:
    """Fork a child that calls a function; it is killed after the test."""
    begun: list[int] = []

    def fork(call: Callable[[], object]) -> int:
        pid = os.fork()
        if not pid:
            try:
                call()
            finally:
                os._exit(0)
        begun.append(pid)
        return pid

    yield fork
    for pid in begun:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_what_a_process_does_is_read_from_the_kernel(
    child: Callable[[Callable[[], object]], int],
) -> None:
    waits, spins = child(threading.Event().wait), child(_spin)
    while life_signs.is_ready(waits) or life_signs.processor_s(spins) < 1:
        assert life_signs.is_ready(spins)
    assert life_signs.processor_s(waits) < life_signs.processor_s(spins) / 2


def _spin() -> None:
    while True:
        pass


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="Linux has this alone")
def test_a_child_ends_with_its_killed_parent() -> None:
    ours, theirs = os.pipe()
    parent = os.fork()
    if not parent:
        me = os.getpid()
        if not os.fork():
            end_with(me)
            os.write(theirs, b"x")
            threading.Event().wait(60)
            os._exit(0)
        os.close(theirs)
        threading.Event().wait()
    os.close(theirs)
    assert os.read(ours, 1) == b"x"
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert os.read(ours, 1) == b""  # the child held the last descriptor
    os.close(ours)
