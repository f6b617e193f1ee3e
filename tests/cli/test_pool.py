"""Work in several processes: the order stays, and a worker that dies is said."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from harness.cli.pool import AHEAD, each
from harness.core.errors import HarnessError, InputError


def double(number: int) -> tuple[int, int]:
    """A task that tells which process did it."""
    return 2 * number, os.getpid()


def refuse(number: int) -> int:
    """A task that finds its input wrong."""
    if number == 1:
        raise InputError("odd", f"number {number}")
    return number


def die(number: int) -> int:
    """A task that takes its process with it."""
    os._exit(number)


def test_results_come_in_the_order_of_the_tasks() -> None:
    done = list(each(double, range(9), 2))
    assert [doubled for doubled, _ in done] == list(range(0, 18, 2))
    assert os.getpid() not in {process for _, process in done}


@pytest.mark.parametrize(("tasks", "workers"), [([3], 8), ([3, 4], 1)])
def test_one_worker_is_this_process(tasks: list[int], workers: int) -> None:
    assert list(each(double, tasks, workers)) == [(2 * n, os.getpid()) for n in tasks]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_task_raises_is_raised(workers: int) -> None:
    results = each(refuse, range(4), workers)
    assert next(results) == 0
    with pytest.raises(InputError, match="number 1: odd"):
        next(results)


def test_a_worker_that_dies_is_no_pass() -> None:
    with pytest.raises(HarnessError, match="a worker process died"):
        list(each(die, [1, 2], 2))


def die_of_three(numbers: tuple[int, ...]) -> list[int]:
    """A task that takes its process with it when there is a 3 in it."""
    if 3 in numbers:
        os._exit(3)
    return list(numbers)


def one_by_one(
    numbers: tuple[int, ...], alone: Callable[[tuple[int, ...]], list[int] | None]
) -> list[int]:
    """Each number alone; -1 for one that dies."""
    return [(alone((n,)) or [-1])[0] for n in numbers]


@pytest.mark.real
def test_a_worker_that_dies_costs_one_task() -> None:
    tasks = [(0, 1), (2, 3), (4, 5), (6,), (3,), (7, 8)]
    done = list(each(die_of_three, tasks, 2, one_by_one))
    assert done == [[0, 1], [2, -1], [4, 5], [6], [-1], [7, 8]]


def test_few_tasks_are_ahead_of_the_results() -> None:
    begun: list[int] = []

    def numbers() -> Iterator[int]:
        for n in range(1000):
            begun.append(n)
            yield n

    results = each(double, numbers(), 2)
    assert next(results)[0] == 0
    assert len(begun) <= 2 * AHEAD + 2
    results.close()  # type: ignore[attr-defined]
