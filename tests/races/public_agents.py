"""The agents of five public reports of races, as their stories tell them, and the corrected ones.

Nothing of the programs is here: only the step that the report names, in a plain loop.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.races.parallel_agents import Loop, Rows, in_thread, result, task_agent
from tests.races.race_agents import row_of_task
from tests.races.session_races import resume_in_pool, update_in_tasks


def turn(loop: Loop, client: Any, inbound: Inbound) -> None:
    """One turn on the rows of a loop, with its calls one after the other."""
    loop.rows.append({"role": "user", "content": inbound.text})
    while uses := loop.calls_of(answer := client.messages.create(**loop.request())):
        loop.rows.append({"role": "user", "content": [result(use, loop.call(use)) for use in uses]})
    loop.brief.send(answer.content[0].text, in_reply_to=inbound.id)


def turns_interleave(brief: Brief, *, careful: bool = False) -> None:
    """Each message has a worker, on one list of rows; the careful agent has one worker."""
    loop, client = Loop(brief), brief.anthropic()
    with ThreadPoolExecutor(1 if careful else 8) as pool:
        turns = list[Any]()
        brief.on_message(lambda one: turns.append(pool.submit(turn, loop, client, one))).result()
        for done in turns:
            done.result()


async def siblings_of_a_failure(brief: Brief, *, careful: bool = False) -> None:
    """The first failure is the answer to the whole batch."""

    async def batch(loop: Loop, uses: list[Any]) -> Rows:
        if careful:
            return list(await asyncio.gather(*(row_of_task(loop, use) for use in uses)))
        try:
            made = await asyncio.gather(*(in_thread(loop, use) for use in uses))
        except Exception as error:
            return [result(use, error, is_error=True) for use in uses]
        return [result(use, one) for use, one in zip(uses, made, strict=True)]

    await task_agent(brief, batch)


def read_before_the_lock(brief: Brief, *, careful: bool = False) -> None:
    """A worker reads the session, then waits for the lock of the turn before."""
    session, lock, client = dict[str, Rows](rows=[]), threading.Lock(), brief.anthropic()

    def work(inbound: Inbound) -> None:
        loop = Loop(brief)
        loop.rows = session["rows"][:]
        with lock:
            if careful:
                loop.rows = session["rows"][:]
            turn(loop, client, inbound)
            session["rows"] = loop.rows

    with ThreadPoolExecutor(8) as pool:
        turns = list[Any]()
        brief.on_message(lambda one: turns.append(pool.submit(work, one))).result()
        for done in turns:
            done.result()


PUBLIC = {
    "turns-interleave": turns_interleave,
    "siblings-of-a-failure": siblings_of_a_failure,
    "updates-are-lost": update_in_tasks,
    "resumed-and-asked": resume_in_pool,
    "read-before-the-lock": read_before_the_lock,
}
"""The wrong agent of each scenario below `public`."""
