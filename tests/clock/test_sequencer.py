"""Blocks of a test run by their places, in threads and in tasks, with and without a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import anyio
import anyio.lowlevel
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.clock import VirtualClock, run_async, run_trio, virtual_time
from harness.clock.sequencer import Sequencer
from tests.races.race_agents import TOGETHER, arrival_in_pool

pytestmark = pytest.mark.timeout(600)

places = st.permutations(range(5))


@settings(max_examples=20)
@given(places)
def test_threads_run_by_their_places(places: Sequence[int]) -> None:
    in_turn, ran = Sequencer(), list[int]()

    def block(place: int) -> None:
        with in_turn(place):
            ran.append(place)

    with ThreadPoolExecutor(len(places)) as pool:
        list(pool.map(block, places))
    assert ran == sorted(places)


async def in_tasks(places: Sequence[int]) -> list[int]:
    in_turn, ran = Sequencer(), list[int]()

    async def block(place: int) -> None:
        async with in_turn(place):
            await anyio.lowlevel.checkpoint()
            ran.append(place)

    async with anyio.create_task_group() as group:
        for place in places:
            group.start_soon(block, place)
    return ran


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=10)
@given(places=places)
def test_tasks_run_by_their_places(backend: str, places: Sequence[int]) -> None:
    assert anyio.run(in_tasks, places, backend=backend) == sorted(places)


@pytest.mark.parametrize("run_one", [run_async, run_trio])
def test_tasks_on_the_virtual_clock(run_one: object) -> None:
    clock = VirtualClock()
    with virtual_time(clock):
        assert run_one(partial(in_tasks, [2, 0, 1]), clock) == [0, 1, 2]  # type: ignore[operator]


def test_threads_and_tasks_share_a_sequence() -> None:
    in_turn, ran = Sequencer(), list[str]()

    def thread() -> None:
        with in_turn(1):
            ran.append("thread")

    async def both() -> None:
        job = asyncio.create_task(asyncio.to_thread(thread))
        async with in_turn(0):
            ran.append("first task")
        async with in_turn(2):
            ran.append("second task")
        await job

    asyncio.run(both())
    assert ran == ["first task", "thread", "second task"]


def test_a_block_that_fails_has_had_its_turn() -> None:
    in_turn = Sequencer()
    with pytest.raises(ZeroDivisionError), in_turn(0):
        _ = 1 / 0
    with in_turn(1):
        pass


def test_a_task_that_is_cancelled_has_had_its_turn() -> None:
    async def cancelled() -> list[int]:
        in_turn, ran = Sequencer(), list[int]()

        async def block(place: int) -> None:
            async with in_turn(place):
                ran.append(place)

        tasks = [asyncio.create_task(block(place)) for place in (1, 2)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await block(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        return ran

    assert asyncio.run(cancelled()) == [0, 2]


def test_a_place_that_nothing_enters_is_a_mistake_in_the_test() -> None:
    in_turn = Sequencer(wait_s=0.01)
    with (
        pytest.raises(
            harness.InputError, match=r"place 1 waits for place 0, which was not entered"
        ),
        in_turn(1),
    ):
        pytest.fail("the block ran")


def test_a_place_that_stays_open_is_told() -> None:
    in_turn = Sequencer(wait_s=0.01)
    with in_turn(0), pytest.raises(harness.InputError, match=r"which is still open"):
        in_turn(1).__enter__()


@pytest.mark.parametrize(("place", "words"), [(-1, "a number from 0"), ("a", "a number from 0")])
def test_what_is_no_place_is_refused(place: int, words: str) -> None:
    with pytest.raises(harness.InputError, match=words), Sequencer()(place):
        pytest.fail("the block ran")


def test_a_place_is_entered_once() -> None:
    in_turn = Sequencer()
    with in_turn(0):
        pass
    with pytest.raises(harness.InputError, match="place 0 was entered before"), in_turn(0):
        pytest.fail("the block ran")


ORDERS = {"as called": ("rome", "oslo", "bern"), "last first": ("bern", "rome", "oslo")}


def test_it_forces_a_race_of_an_agent_in_a_run() -> None:
    """The agent takes the first result for that of the first call, so one order is red."""

    def played(order: Sequence[str]) -> str:
        in_turn = harness.Sequencer()

        def agent(brief: harness.Brief) -> None:
            for place, name in enumerate(order):
                tool = next(tool for tool in brief.tools if tool.name == name)
                brief.tools[brief.tools.index(tool)] = slower(tool, in_turn, place)
            arrival_in_pool(brief)

        return harness.run(TOGETHER, agent).verdict.verdict

    assert [played(order) for order in ORDERS.values()] == ["pass", "fail"]


def slower(tool: harness.Tool, in_turn: Sequencer, place: int) -> harness.Tool:
    """The tool, whose answer comes at its place."""

    def call(*arguments: object, **named: object) -> object:
        with in_turn(place):
            return tool.call(*arguments, **named)

    return msgspec.structs.replace(tool, call=call)
