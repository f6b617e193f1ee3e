"""A run in an order: the scenario names it, the history tells it, and it comes again."""

from __future__ import annotations

import msgspec
import pytest

from harness.core.history.events import Called, Ended
from harness.core.history.history import History
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.brief import Brief
from harness.core.values.calls import ToolRequest
from harness.core.values.errors import InputError
from harness.core.values.orders import Order
from harness.files.scenario_values import with_orders
from harness.pytest_plugin.play_fixture import Play
from harness.runner import run
from tests.races.parallel_agents import Loop, in_thread, pool_agent, result, task_agent

pytestmark = pytest.mark.timeout(600)

NAMES = ("rome", "oslo", "bern")
TOGETHER = Scenario(
    name="three-calls-together",
    inbox=(InboxItem(text="Where does it rain?"),),
    tools={name: ToolScript(script=(ToolTurn(ok=f"rain in {name}"),)) for name in NAMES},
    script=(
        Turn(blocks=tuple({"type": "tool_use", "name": name, "input": {}} for name in NAMES)),
        Turn(say="It rains everywhere."),
    ),
)


def in_pool(brief: Brief) -> None:
    """Results by their ids, in the order of the calls."""
    pool_agent(
        brief, lambda loop, uses, futures: [result(u, f.result()) for f, u in futures.items()]
    )


async def in_tasks(brief: Brief) -> None:
    """The same in tasks."""

    async def batch(loop: Loop, uses: list[object]) -> list[dict[str, object]]:
        return [result(use, await in_thread(loop, use)) for use in uses]

    await task_agent(brief, batch)


def called(history: History) -> list[str]:
    """The tools, in the order of their calls."""
    requests = (event.request for event in history.events if isinstance(event, Called))
    return [request.name for request in requests if isinstance(request, ToolRequest)]


def ended(history: History) -> Ended:
    """How the run ended."""
    last = history.events[-1]
    assert isinstance(last, Ended)
    return last


def test_a_run_without_orders_has_no_points() -> None:
    played = run(TOGETHER, in_pool)
    assert played.verdict.verdict == "pass"
    assert not ended(played.history).points
    assert "orders" not in played.history.events[0].settings  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("orders", "first"),
    [({}, ["rome", "oslo", "bern"]), ({1: 3}, ["bern", "rome", "oslo"]),
     ({1: 2, 2: 2}, ["oslo", "bern", "rome"])],
)  # fmt: skip
def test_calls_of_a_pool_come_as_the_orders_say(orders: dict[int, int], first: list[str]) -> None:
    played = run(with_orders(TOGETHER, orders), in_pool)
    assert played.verdict.verdict == "pass", played.verdict
    assert called(played.history) == first
    points = ended(played.history).points
    assert points[0].waiting == ("tool rome", "tool oslo", "tool bern")
    assert {at: p.went for at, p in enumerate(points, 1) if p.went > 1} == orders


def test_a_run_in_an_order_comes_again() -> None:
    played = [run(with_orders(TOGETHER, {1: 2, 3: 3}), in_pool).history for _ in range(2)]
    assert ended(played[0]).points == ended(played[1]).points
    assert called(played[0]) == called(played[1])


def test_calls_one_after_the_other_have_no_choice() -> None:
    played = run(with_orders(TOGETHER, {1: 2}), in_tasks)
    assert played.verdict.verdict == "pass", played.verdict
    assert called(played.history) == [*NAMES]
    assert not ended(played.history).points


def test_no_real_clock_has_an_order() -> None:
    verdict = run(with_orders(TOGETHER, {}), in_pool, world="supervise").verdict
    assert verdict.verdict == "not_applicable"
    assert "orders" in verdict.not_applicable[0].reason


def test_a_test_forces_an_order(play: Play) -> None:
    (played,) = play(TOGETHER, in_pool, orders={1: 3})
    assert called(played.history)[0] == "bern"
    assert msgspec.to_builtins(played.history.events[0])["settings"]["orders"]


@pytest.mark.parametrize("wrong", [{0: 2}, {1: 0}])
def test_what_is_no_order_is_refused(wrong: dict[int, int]) -> None:
    with pytest.raises(InputError, match="play: orders"):
        with_orders(TOGETHER, wrong)


def test_orders_are_read_and_written(play: Play) -> None:
    asked = with_orders(TOGETHER, {2: 2})
    assert asked.orders == (Order(at=2, first=2),)
    assert msgspec.convert(msgspec.to_builtins(asked), Scenario) == asked
