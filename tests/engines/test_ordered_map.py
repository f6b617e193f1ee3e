"""Tasks of an iterable: the order stays, few are ahead of the results, and none is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from harness.core.values.errors import InputError
from harness.engines import AHEAD, Engine, Serial, ordered_map
from harness.engines.local import Local
from tests.engines.work import Task, lost, square


def double(number: int) -> tuple[int, int]:
    """A task that tells which process did it."""
    return 2 * number, os.getpid()


def refuse(number: int) -> int:
    """A task that finds its input wrong."""
    if number == 1:
        raise InputError("odd", f"number {number}")
    return number


def given_up(task: object) -> tuple[int, int]:
    """What nothing here comes to."""
    raise AssertionError(f"{task} was given up")


def test_results_come_in_the_order_of_the_tasks() -> None:
    done = list(ordered_map(Local(2), double, range(9), given_up))
    assert [doubled for doubled, _ in done] == list(range(0, 18, 2))
    assert os.getpid() not in {process for _, process in done}


@pytest.mark.parametrize("engine", [Local(8), Serial()])
def test_no_task_is_no_result(engine: Engine) -> None:
    assert list(ordered_map(engine, double, [], given_up)) == []


def test_a_single_task_is_done_by_the_engine_too() -> None:
    ((number, pid),) = ordered_map(Local(8), double, [3], given_up)
    assert number == 6
    assert pid != os.getpid()


@pytest.mark.parametrize("engine", [Serial(), Local(2)])
def test_what_a_task_raises_is_raised_in_its_place(engine: Engine) -> None:
    results = ordered_map(engine, refuse, range(4), lambda number: number)
    assert next(results) == 0
    with pytest.raises(InputError, match="number 1: odd"):
        next(results)


def test_what_is_said_of_a_lost_task_may_be_raised_in_its_place() -> None:
    def refused(task: Task) -> tuple[int, int]:
        raise InputError("ends its process", f"task {task.number}")

    results = ordered_map(Local(2), square, [Task(2), Task(3, always=True), Task(4)], refused)
    assert next(results)[0] == 4
    with pytest.raises(InputError, match="task 3: ends its process"):
        next(results)


def test_few_tasks_are_ahead_of_the_results() -> None:
    begun: list[int] = []

    def numbers() -> Iterator[int]:
        for n in range(1000):
            begun.append(n)
            yield n

    results = ordered_map(Local(2), double, numbers(), given_up)
    assert next(results)[0] == 0
    assert len(begun) <= 2 * AHEAD + 2
    results.close()  # type: ignore[attr-defined]


def squares(tasks: tuple[Task, ...]) -> list[int]:
    """Several squares as one task."""
    return [square(task)[0] for task in tasks]


@pytest.mark.real
def test_parts_of_a_lost_task_may_be_done_by_the_same_engine() -> None:
    engine = Local(2)

    def one_by_one(tasks: tuple[Task, ...]) -> list[int]:
        left = iter([(task,) for task in tasks])
        one = engine.each(
            squares, lambda: next(left, None), window=4, lost=lambda part: [lost(part[0])[0]]
        )
        return [number for numbers in one for number in numbers]

    batches = [(Task(1), Task(2)), (Task(3), Task(4, always=True), Task(5)), (Task(6),)]
    assert list(ordered_map(engine, squares, batches, one_by_one)) == [[1, 4], [9, -4, 25], [36]]
