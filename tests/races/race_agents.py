"""Agents with a planted race, in a thread pool and in asyncio tasks, each with a careful twin.

All of them are right while the calls of a batch end in the order in which they began. Each mistake
is a public kind: what came first is taken for the first, what began last for the last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from typing import Any

from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.brief import Brief
from tests.races.parallel_agents import Loop, Rows, in_thread, pool_agent, result, task_agent

CANCELLED = "cancelled: another call failed"

TOGETHER = Scenario(
    name="three-calls-together",
    inbox=(InboxItem(text="Where does it rain?"),),
    tools={
        "rome": ToolScript(script=(ToolTurn(ok="rain in rome"),)),
        "oslo": ToolScript(script=(ToolTurn(ok="rain in oslo"),)),
        "bern": ToolScript(script=(ToolTurn(error="no station in bern"),)),
    },
    script=(
        Turn(
            blocks=tuple(
                {"type": "tool_use", "name": name, "input": {}} for name in ("rome", "oslo", "bern")
            )
        ),
        Turn(say="It rains."),
    ),
)


def row_of(use: Any, made: Callable[[], object]) -> dict[str, Any]:
    """The result of a call, also where it fails."""
    try:
        return result(use, made())
    except Exception as error:
        return result(use, error, is_error=True)


async def row_of_task(loop: Loop, use: Any) -> dict[str, Any]:
    """The same in a task."""
    try:
        return result(use, await in_thread(loop, use))
    except Exception as error:
        return result(use, error, is_error=True)


def arrival_in_pool(brief: Brief) -> None:
    """The first result is taken for that of the first call."""

    def batch(loop: Loop, uses: list[Any], futures: dict[Future[Any], Any]) -> Rows:
        done = as_completed(futures)
        return [row_of(use, future.result) for use, future in zip(uses, done, strict=True)]

    pool_agent(brief, batch)


def failure_in_pool(brief: Brief) -> None:
    """The first failure ends the batch: what still runs counts as cancelled."""

    def batch(loop: Loop, uses: list[Any], futures: dict[Future[Any], Any]) -> Rows:
        rows: dict[str, dict[str, Any]] = {}
        for future in as_completed(futures):
            use = futures[future]
            rows[use.id] = row_of(use, future.result)
            if future.exception():
                break
        return [rows.get(use.id) or result(use, CANCELLED, is_error=True) for use in uses]

    pool_agent(brief, batch)


def shared_in_pool(brief: Brief) -> None:
    """Workers share a queue of ids: each gives its result to the call that waits longest."""

    def batch(loop: Loop, uses: list[Any], futures: dict[Future[Any], Any]) -> Rows:
        open_calls, rows = list(uses), []
        left = set(futures)
        while left:
            done, left = wait(left, return_when=FIRST_COMPLETED)
            for future in done:
                rows.append(row_of(open_calls.pop(0), future.result))
        return rows

    pool_agent(brief, batch)


def last_in_pool(brief: Brief) -> None:
    """The end of the last call is taken for the end of the batch."""

    def batch(loop: Loop, uses: list[Any], futures: dict[Future[Any], Any]) -> Rows:
        rows = []
        for future in as_completed(futures):
            rows.append(row_of(futures[future], future.result))
            if futures[future] is uses[-1]:
                break
        return rows

    pool_agent(brief, batch)


def careful_in_pool(brief: Brief) -> None:
    """Each result by its id, in the order of the calls, after all have ended."""

    def batch(loop: Loop, uses: list[Any], futures: dict[Future[Any], Any]) -> Rows:
        wait(futures)
        return [row_of(use, future.result) for future, use in futures.items()]

    pool_agent(brief, batch)


async def arrival_in_tasks(brief: Brief) -> None:
    """The first result is taken for that of the first call."""

    async def batch(loop: Loop, uses: list[Any]) -> Rows:
        done = asyncio.as_completed([row_of_task(loop, use) for use in uses])
        return [{**await row, "tool_use_id": use.id} for use, row in zip(uses, done, strict=True)]

    await task_agent(brief, batch)


async def failure_in_tasks(brief: Brief) -> None:
    """The first failure cancels its siblings, whose calls run on in their threads."""

    async def batch(loop: Loop, uses: list[Any]) -> Rows:
        tasks = [asyncio.create_task(in_thread(loop, use)) for use in uses]
        _, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        return [
            result(use, CANCELLED, is_error=True) if task.cancelled() else row_of(use, task.result)
            for use, task in zip(uses, tasks, strict=True)
        ]

    await task_agent(brief, batch)


async def shared_in_tasks(brief: Brief) -> None:
    """Tasks share the name of the call that ends next."""

    async def batch(loop: Loop, uses: list[Any]) -> Rows:
        rows: Rows = []

        async def one(use: Any) -> None:
            row = await row_of_task(loop, use)
            rows.append({**row, "tool_use_id": uses[len(rows)].id})

        await asyncio.gather(*map(one, uses))
        return rows

    await task_agent(brief, batch)


async def last_in_tasks(brief: Brief) -> None:
    """The end of the last call is taken for the end of the batch."""

    async def batch(loop: Loop, uses: list[Any]) -> Rows:
        rows: Rows = []

        async def one(use: Any) -> None:
            rows.append(await row_of_task(loop, use))

        tasks = [asyncio.create_task(one(use)) for use in uses]
        await tasks[-1]
        return rows[:]

    await task_agent(brief, batch)


async def careful_in_tasks(brief: Brief) -> None:
    """Each result by its id, in the order of the calls, after all have ended."""

    async def batch(loop: Loop, uses: list[Any]) -> Rows:
        return list(await asyncio.gather(*(row_of_task(loop, use) for use in uses)))

    await task_agent(brief, batch)


IN_POOL = (arrival_in_pool, failure_in_pool, shared_in_pool, last_in_pool)
IN_TASKS = (arrival_in_tasks, failure_in_tasks, shared_in_tasks, last_in_tasks)
CAREFUL = (careful_in_pool, careful_in_tasks)
