"""Local workers: the order of the tasks, a worker's death, errors, and no remaining process."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest

from harness.core.values.errors import InputError
from harness.engines import Engine, Serial, ordered_map
from harness.engines.local import Local
from harness.parts.loading import Plugin, set_loaded
from harness.plugins import load_plugins
from tests.engines.work import Task, lost, prefixes, square


def source(tasks: Iterable[Task]) -> Callable[[], Task | None]:
    left = iter(tasks)
    return lambda: next(left, None)


def squares(engine: Engine, tasks: Iterable[Task], window: int = 8) -> list[tuple[int, int]]:
    return list(engine.each(square, source(tasks), window=window, lost=lost))


TASKS = [Task(n) for n in range(20)]
SQUARES = [n**2 for n in range(20)]


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_the_tasks(workers: int) -> None:
    done = squares(Local(workers), TASKS)
    assert [number for number, _ in done] == SQUARES
    assert os.getpid() not in {pid for _, pid in done}
    assert not multiprocessing.active_children()


def test_in_a_block_the_workers_stay_and_a_dead_one_is_replaced(tmp_path: Path) -> None:
    with Local(1) as engine:
        ((_, first),) = squares(engine, [Task(1)])
        ((_, second),) = squares(engine, [Task(2)])
        ((_, third),) = squares(engine, [Task(3, dies=str(tmp_path / "died"))])
    assert first == second
    assert third != second
    assert not multiprocessing.active_children()


def test_in_a_block_an_error_ends_the_workers_that_are_busy() -> None:
    with Local(2) as engine:
        with pytest.raises(ValueError, match="fails"):
            squares(engine, [Task(1), Task(2, fails=True), Task(3)])
        assert [number for number, _ in squares(engine, [Task(4)])] == [16]
    assert not multiprocessing.active_children()


def test_this_process_is_an_engine_too() -> None:
    assert [number for number, _ in squares(Serial(), TASKS)] == SQUARES


def test_the_task_of_a_worker_that_was_killed_is_done_again(tmp_path: Path) -> None:
    dying = [Task(n, dies=str(tmp_path / "died") if n == 3 else "") for n in range(8)]
    done = squares(Local(2), dying)
    assert [number for number, _ in done] == [n**2 for n in range(8)]
    assert (tmp_path / "died").exists()


def test_a_task_that_ends_every_worker_is_given_up_and_the_others_are_done() -> None:
    done = squares(Local(2), [Task(1), Task(2, always=True), Task(3)])
    assert [number for number, _ in done] == [1, -2, 9]


def test_what_a_target_writes_on_the_pipes_of_its_worker_is_passed_over() -> None:
    tasks = [Task(n, litters=n % 2 == 0) for n in range(6)]
    done = squares(Local(1), tasks)
    assert [number for number, _ in done] == [n**2 for n in range(6)]
    assert len({pid for _, pid in done}) == 1


def test_a_worker_whose_run_holds_the_interpreter_is_killed(tmp_path: Path) -> None:
    done = squares(Local(1), [Task(2, stuck=str(tmp_path / "stuck")), Task(3)])
    assert [number for number, _ in done] == [4, 9]
    assert not multiprocessing.active_children()


def test_an_error_of_the_work_is_raised_and_no_worker_is_left() -> None:
    with pytest.raises(ValueError, match="2 fails"):
        squares(Local(2), [Task(1), Task(2, fails=True), Task(3)])
    assert not multiprocessing.active_children()


def test_no_more_tasks_are_handed_out_than_the_window_allows() -> None:
    handed: list[Task] = []
    given = 0

    def next_task() -> Task | None:
        if len(handed) == 12:
            return None
        handed.append(Task(len(handed)))
        assert len(handed) - given <= 4
        return handed[-1]

    for _ in Local(2).each(square, next_task, window=4, lost=lost):
        given += 1
    assert given == 12


@pytest.mark.real
def test_a_loose_result_comes_at_once_and_is_not_counted_in_the_window(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    tasks = [Task(9, waits=str(gate)), *(Task(n) for n in range(6))]
    done = Local(2).each(square, source(tasks), window=1, lost=lost, loose=lambda t: bool(t.waits))
    numbers = []
    for number, _ in done:
        numbers.append(number)
        if len(numbers) == 6:
            gate.write_bytes(b"")
    assert numbers == [*SQUARES[:6], 81]


def test_a_source_that_had_nothing_is_asked_again_after_a_result() -> None:
    waiting = [Task(1)]
    done = []
    for number, _ in Local(2).each(
        square, lambda: waiting.pop() if waiting else None, window=4, lost=lost
    ):
        done.append(number)
        if len(done) < 3:
            waiting.append(Task(len(done) + 1))
    assert done == [1, 4, 9]


def test_workers_load_the_plug_ins_of_this_process() -> None:
    load_plugins("tests.fuzz.guest_parts")
    try:
        assert [*ordered_map(Local(2), prefixes, range(3), lambda n: ())] == [("guest_parts",)] * 3
    finally:
        set_loaded(())
    assert [*ordered_map(Local(2), prefixes, range(2), lambda n: ())] == [(), ()]


def test_a_plug_in_that_a_worker_cannot_load_fails_the_task() -> None:
    set_loaded((Plugin("gone", ModuleType("gone_parts")),))
    try:
        with pytest.raises(InputError, match="cannot be imported"):
            list(ordered_map(Local(2), prefixes, range(3), lambda n: ()))
    finally:
        set_loaded(())
