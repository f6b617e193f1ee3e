"""Work in several processes: the order stays, and a worker that dies is said."""

from __future__ import annotations

import os

import pytest

from harness.cli.pool import each
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
