"""Who goes first at one moment: without orders the line decides, with them they do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.clock import VirtualClock, run_async, task_turn, virtual_time
from harness.clock.choices import POINTS_MOST, Choices
from harness.clock.timekeeper import SLEEP, Wait
from harness.core.values.orders import ChoicePoint, Order

pytestmark = pytest.mark.timeout(600)


def waiting(*names: str) -> list[Wait]:
    """Waits of these names."""
    return [Wait(SLEEP, 0, "sleep", name) for name in names]


def chosen(choices: Choices, *names: str) -> str:
    """The name of the wait that goes."""
    return choices.chosen(waiting(*names)).name


def test_an_entry_lets_another_place_go_first_at_its_point_only() -> None:
    choices = Choices([Order(at=2, first=3)])
    assert [chosen(choices, "a", "b", "c") for _ in range(3)] == ["a", "c", "a"]
    assert [point.went for point in choices.points] == [1, 3, 1]
    assert choices.points[0] == ChoicePoint(("a", "b", "c"))


def test_a_line_of_one_is_no_point() -> None:
    choices = Choices([Order(at=1, first=2)])
    assert chosen(choices, "a") == "a"
    assert chosen(choices, "a", "b") == "b"


def test_a_place_that_the_line_does_not_have_is_not_taken() -> None:
    choices = Choices([Order(at=1, first=4)])
    assert chosen(choices, "a", "b") == "a"
    assert choices.points == [ChoicePoint(("a", "b"), 1)]


def test_a_life_has_a_bounded_number_of_points() -> None:
    choices = Choices([Order(at=POINTS_MOST + 1, first=2)])
    went = {chosen(choices, "a", "b") for _ in range(POINTS_MOST + 1)}
    assert (went, len(choices.points)) == ({"a"}, POINTS_MOST)


def slept_in_threads(orders: Iterable[Order] | None) -> tuple[list[int], int]:
    """The order in which threads wake that sleep until one moment, and the number of points."""
    clock, woken = VirtualClock(orders=orders), []

    def sleeper(number: int) -> None:
        time.sleep(1)
        woken.append(number)

    with virtual_time(clock), ThreadPoolExecutor(4) as pool:
        list(pool.map(sleeper, range(3)))
    choices = clock.keeper.choices
    return woken, len(choices.points) if choices else 0


@pytest.mark.parametrize(
    ("orders", "woken", "points"),
    [
        (None, [0, 1, 2], 0),
        ((), [0, 1, 2], 2),
        ((Order(at=1, first=3),), [2, 0, 1], 2),
        ((Order(at=1, first=2), Order(at=2, first=2)), [1, 2, 0], 2),
    ],
)
def test_threads_that_wake_together(
    orders: Iterable[Order] | None, woken: list[int], points: int
) -> None:
    assert slept_in_threads(orders) == (woken, points)


def called_in_tasks(orders: Iterable[Order] | None) -> tuple[list[str], list[bool]]:
    """The order in which tasks go on behind a call, and whether each had to wait."""
    clock, went, waited = VirtualClock(orders=orders), [], []

    async def task(name: str) -> None:
        for number in (1, 2):
            waited.append(await task_turn(clock, name))
            went.append(f"{name}{number}")

    async def main() -> None:
        await asyncio.gather(*map(task, "abc"))

    with virtual_time(clock):
        run_async(main, clock)
    return went, waited


def test_tasks_without_orders_do_not_wait() -> None:
    assert called_in_tasks(None) == (["a1", "a2", "b1", "b2", "c1", "c2"], [False] * 6)


def test_tasks_go_first_come_first_served() -> None:
    assert called_in_tasks(()) == (["a1", "b1", "c1", "a2", "b2", "c2"], [True] * 6)


def test_a_task_keeps_the_order_of_its_own_calls() -> None:
    first = tuple(Order(at=at, first=3) for at in range(1, 6))
    went, _ = called_in_tasks(first)
    assert went[0] == "c1"
    for name in "abc":
        assert went.index(f"{name}1") < went.index(f"{name}2")


def test_a_timer_and_a_call_at_one_moment_come_in_either_order() -> None:
    def went(*orders: Order) -> list[str]:
        clock, said = VirtualClock(orders=orders), []

        async def called() -> None:
            await asyncio.sleep(1)
            await task_turn(clock, "call")
            said.append("call")

        async def timed() -> None:
            # Due at the moment of the call, and set while the call waits.
            await asyncio.sleep(1)
            await asyncio.sleep(1e-9)
            said.append("timer")

        async def main() -> None:
            await asyncio.gather(called(), timed())

        with virtual_time(clock):
            run_async(main, clock)
        return said

    assert {tuple(went()), tuple(went(Order(at=1, first=2)))} == {
        ("call", "timer"),
        ("timer", "call"),
    }


def test_a_cancelled_task_leaves_the_line() -> None:
    clock, went = VirtualClock(orders=()), []

    async def task(name: str) -> None:
        await task_turn(clock, name)
        went.append(name)

    async def main() -> None:
        one, other = asyncio.create_task(task("a")), asyncio.create_task(task("b"))
        await asyncio.sleep(0)
        one.cancel()
        await asyncio.wait([one, other])

    with virtual_time(clock):
        run_async(main, clock)
    assert went == ["b"]
    assert clock.keeper.choices is not None
    assert not clock.keeper.choices.points
