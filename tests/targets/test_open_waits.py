"""A run that hangs, or waits in real time, says where its threads and tasks stand."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness.clock import real_sleep
from harness.core.history.events import Ended
from harness.core.scenario.scenario import Limits
from harness.runner import Run, run
from harness.targets.open_waits import open_waits
from tests.runner.test_limits_of_real_time import HELLO

QUICK = msgspec.structs.replace(HELLO, limits=Limits(real_s=0.4))


def _thread(brief: Any = None) -> None:
    queue.SimpleQueue[None]().get()


def _two_threads(brief: Any) -> None:
    thread = threading.Thread(target=_thread, daemon=True)
    thread.start()
    thread.join()


async def _first() -> None:
    await asyncio.Event().wait()


async def _second() -> None:
    await asyncio.get_running_loop().create_future()


async def _two_tasks(brief: Any) -> None:
    await asyncio.gather(_first(), _second())


def _functions(run: Run) -> set[str]:
    ended = run.history.events[-1]
    assert isinstance(ended, Ended)
    return {place.partition(" in ")[2].partition(":")[0] for place in ended.open_waits}


@pytest.mark.parametrize("world", ["simulate", "supervise"])
@pytest.mark.parametrize(
    ("agent", "functions"),
    [
        (_thread, {"_thread"}),
        (_two_threads, {"_thread", "_two_threads"}),
        (_two_tasks, {"_first", "_second", "_two_tasks"}),
    ],
)
def test_a_run_that_hangs_says_where(
    agent: Callable[[Any], Any], functions: set[str], world: Any
) -> None:
    played = run(QUICK, agent, world=world)
    assert _functions(played) == functions
    text = next(f.message for f in played.verdict.findings if f.code == "target.hung")
    assert all(name in text for name in functions)


@pytest.mark.timeout(20)
def test_tasks_of_trio_are_seen() -> None:
    trio = pytest.importorskip("trio")
    began: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def parked() -> None:
        await trio.sleep_forever()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(parked)
            nursery.start_soon(trio.Event().wait)
            began.put((trio.lowlevel.current_trio_token(), nursery.cancel_scope))
            await trio.sleep(30)

    thread = threading.Thread(target=trio.run, args=[main])
    thread.start()
    token, scope = began.get()
    found: set[str] = set()
    while found != {"parked: await trio.sleep_forever()", "main: await trio.sleep(30)"}:
        places = open_waits([thread.native_id or 0], "")
        found = {place.partition(" in ")[2] for place in places}
        real_sleep(0.01)
    token.run_sync_soon(scope.cancel)
    thread.join()


def _waits_really(brief: Any) -> None:
    for message in brief.inbox():
        threading.Event().wait(1.5)
        brief.send("Hello.", in_reply_to=message.id)


@pytest.mark.real
def test_a_real_wait_says_where() -> None:
    patient = msgspec.structs.replace(HELLO, limits=Limits(real_s=30))
    played = run(patient, _waits_really)
    assert _functions(played) == {"_waits_really"}
    (doubt,) = played.verdict.doubts
    assert "real wait" in doubt
    assert "in _waits_really" in doubt


def test_a_run_that_ends_well_lists_nothing() -> None:
    assert _functions(run(HELLO, lambda brief: None)) == set()
