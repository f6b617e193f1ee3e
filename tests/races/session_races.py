"""Agents that race with the user, with a timer and with themselves, each with a careful twin.

A mistake is always the same: what was read is still believed after a wait, in which another thread
or task has changed it. A twin changes the value before its next wait. First come, first served, no
one else runs in that wait, so a single run shows nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.races.parallel_agents import Loop, Rows, pool_agent, task_agent
from tests.races.race_agents import TOGETHER, row_of

MOMENT_S = 0.01
"""The time after which workers look at what they share: all of them at one moment."""

RESUMES_S = 10
"""The time after which a turn goes on that the model could not answer. The next message of `PARKED`
comes at the same moment."""


TWO_SESSIONS = Scenario(
    name="two-sessions-at-once",
    policy="open",
    inbox=tuple(InboxItem(text=f"I am {name}.", when="start", session=name) for name in "ab"),
    script=(Turn(say="Hello.", times="forever"),),
)

CANCELLED = Scenario(
    name="a-cancel-at-the-end",
    inbox=(
        InboxItem(text="How are you?"),
        InboxItem(kind="cancel", when={"after": "main/model#1"}),
    ),
    script=(Turn(say="Well."),),
)

PARKED = Scenario(
    name="a-parked-turn",
    policy="open",
    inbox=(
        InboxItem(text="How are you?"),
        InboxItem(text="Are you there?", when={"ms": RESUMES_S * 1000}),
    ),
    faults=(FaultSpec(kind="http.status", settings={"status": 529}),),
    script=(Turn(say="I am well.", times="forever"),),
)


def update_in_pool(brief: Brief, *, careful: bool = False) -> None:
    """Each worker writes the whole list of results that it read before it told the user."""

    def batch(loop: Loop, uses: list[Any], futures: dict[Future[Any], Any]) -> Rows:
        session: dict[str, Rows] = {"rows": []}

        def keep(use: Any, future: Future[Any]) -> None:
            row = row_of(use, future.result)
            rows = session["rows"]
            if careful:
                session["rows"] = [*rows, row]
            brief.send(f"{use.name} is done", kind="notice")
            if not careful:
                session["rows"] = [*rows, row]

        with ThreadPoolExecutor(8) as keepers:
            for future, use in futures.items():
                keepers.submit(keep, use, future)
        return session["rows"]

    pool_agent(brief, batch)


async def update_in_tasks(brief: Brief, *, careful: bool = False) -> None:
    """The same in tasks, which tell the user in a thread."""

    async def batch(loop: Loop, uses: list[Any]) -> Rows:
        session: dict[str, Rows] = {"rows": []}

        async def one(use: Any) -> None:
            made = await asyncio.to_thread(row_of, use, partial(loop.call, use))
            rows = session["rows"]
            if careful:
                session["rows"] = [*rows, made]
            await asyncio.to_thread(brief.send, f"{use.name} is done", kind="notice")
            if not careful:
                session["rows"] = [*rows, made]

        await asyncio.gather(*map(one, uses))
        return session["rows"]

    await task_agent(brief, batch)


class Desk:
    """What workers share: the messages that came, and those that are still to be answered."""

    def __init__(self, brief: Brief, make: Callable[..., Any]) -> None:
        # One client, made before any thread: to make the first of a process takes a second.
        self.brief, self.client = brief, make(max_retries=0)
        self.came: list[Inbound] = []
        self.parked: list[Inbound] = []
        self.is_over = False
        self.rows: Rows = []

    def take(self, inbound: Inbound) -> None:
        """Take a message as it comes."""
        self.came.append(inbound)

    def asked(self, inbound: Inbound) -> Any:
        """The model's answer, or what is awaited for it."""
        client = self.client.with_options(base_url=f"{self.brief.base_url}/s/{inbound.session}")
        asks = {"role": "user", "content": inbound.text}
        return client.messages.create(model="m", max_tokens=500, messages=[*self.rows, asks])

    def replies(self, inbound: Inbound, answer: Any) -> None:
        """Send an answer, and keep both for the next request."""
        said = answer.content[0].text
        self.rows += [{"role": "user", "content": inbound.text}]
        self.rows += [{"role": "assistant", "content": said}]
        self.says(inbound, said)

    def says(self, inbound: Inbound, text: str, kind: Any = "final", status: str = "") -> None:
        """Say something about a message."""
        about = {"session": inbound.session, "in_reply_to": inbound.id}
        self.brief.send(text, kind, status=status or None, **about)


def twice_in_pool(brief: Brief, *, careful: bool = False) -> None:
    """A worker looks at the first message, tells that it works on it, and takes it."""
    desk = Desk(brief, brief.anthropic)

    def work() -> None:
        time.sleep(MOMENT_S)
        message = desk.came.pop(0) if careful else desk.came[0]
        desk.says(message, "I am on it", "notice")
        if not careful:
            desk.came.pop(0)
        desk.says(message, desk.asked(message).content[0].text)

    brief.on_message(desk.take).result()
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work) for _ in desk.came]:
            done.result()


async def twice_in_tasks(brief: Brief, *, careful: bool = False) -> None:
    """The same in tasks."""
    desk = Desk(brief, brief.async_anthropic)

    async def work() -> None:
        await asyncio.to_thread(time.sleep, MOMENT_S)
        message = desk.came.pop(0) if careful else desk.came[0]
        await asyncio.to_thread(desk.says, message, "I am on it", "notice")
        if not careful:
            desk.came.pop(0)
        desk.says(message, (await desk.asked(message)).content[0].text)

    await asyncio.wrap_future(brief.on_message(desk.take))
    await asyncio.gather(*(work() for _ in desk.came))


def cancel_in_pool(brief: Brief, *, careful: bool = False) -> None:
    """The last write and the cancel look whether the turn is over, and end it after their words."""
    desk = Desk(brief, brief.anthropic)

    def ends(message: Inbound, text: str, status: str = "") -> None:
        desk.is_over = desk.is_over or careful
        desk.says(message, text, status=status)
        desk.is_over = True

    def work(message: Inbound) -> None:
        text = desk.asked(message).content[0].text
        time.sleep(MOMENT_S)
        if not desk.is_over:
            ends(message, text)

    def watch(message: Inbound) -> None:
        time.sleep(MOMENT_S)
        if not desk.is_over and brief.cancelled(message.session):
            ends(message, "Stopped.", "cancelled")

    for message in brief.inbox():
        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(work, message), pool.submit(watch, message)]:
                done.result()


async def cancel_in_tasks(brief: Brief, *, careful: bool = False) -> None:
    """The same in tasks."""
    desk = Desk(brief, brief.async_anthropic)

    async def ends(message: Inbound, text: str, status: str = "") -> None:
        desk.is_over = desk.is_over or careful
        await asyncio.to_thread(desk.says, message, text, status=status)
        desk.is_over = True

    async def work(message: Inbound) -> None:
        text = (await desk.asked(message)).content[0].text
        await asyncio.to_thread(time.sleep, MOMENT_S)
        if not desk.is_over:
            await ends(message, text)

    async def watch(message: Inbound) -> None:
        await asyncio.to_thread(time.sleep, MOMENT_S)
        if not desk.is_over and brief.cancelled(message.session):
            await ends(message, "Stopped.", "cancelled")

    for message in brief.inbox():
        await asyncio.gather(work(message), watch(message))


def resume_in_pool(brief: Brief, *, careful: bool = False) -> None:
    """A parked turn is resumed by a timer and by the next message, until one has answered it."""
    desk = Desk(brief, brief.anthropic)
    one_at_a_time: AbstractContextManager[object] = threading.Lock() if careful else nullcontext()

    def resume() -> None:
        for message in desk.parked[:]:
            desk.replies(message, desk.asked(message))
            desk.parked[:] = [other for other in desk.parked if other.id != message.id]

    def later() -> None:
        time.sleep(RESUMES_S)
        with one_at_a_time:
            resume()

    def work(message: Inbound) -> None:
        with one_at_a_time:
            resume()
            try:
                desk.replies(message, desk.asked(message))
            except Exception:
                desk.parked.append(message)
                pool.submit(later)

    with ThreadPoolExecutor(8) as pool:
        brief.on_message(work).result()


async def resume_in_tasks(brief: Brief, *, careful: bool = False) -> None:
    """The same in tasks."""
    desk, loop = Desk(brief, brief.async_anthropic), asyncio.get_running_loop()
    one_at_a_time: Any = asyncio.Lock() if careful else nullcontext()
    timers: list[asyncio.Task[None]] = []

    async def resume() -> None:
        for message in desk.parked[:]:
            desk.replies(message, await desk.asked(message))
            desk.parked[:] = [other for other in desk.parked if other.id != message.id]

    async def later() -> None:
        await asyncio.to_thread(time.sleep, RESUMES_S)
        async with one_at_a_time:
            await resume()

    async def work(message: Inbound) -> None:
        async with one_at_a_time:
            await resume()
            try:
                desk.replies(message, await desk.asked(message))
            except Exception:
                desk.parked.append(message)
                timers.append(asyncio.create_task(later()))

    def take(message: Inbound) -> None:
        asyncio.run_coroutine_threadsafe(work(message), loop).result()

    await asyncio.wrap_future(brief.on_message(take))
    await asyncio.gather(*timers)


PLANTED = (
    (update_in_pool, TOGETHER),
    (update_in_tasks, TOGETHER),
    (twice_in_pool, TWO_SESSIONS),
    (twice_in_tasks, TWO_SESSIONS),
    (cancel_in_pool, CANCELLED),
    (cancel_in_tasks, CANCELLED),
    (resume_in_pool, PARKED),
    (resume_in_tasks, PARKED),
)
"""Each race with the scenario in which its two sides meet."""
