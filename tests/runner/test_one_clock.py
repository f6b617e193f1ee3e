"""The calls of a batch: all begin before the first ends, and the seed says which ends first."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.core.history.history import canonical
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.runner import run
from tests.field.environments import ROOT, is_installed, python_of, require
from tests.runner import batches
from tests.runner.batches import Way, orders, played, three

WAYS = [
    (batches.pool, "asyncio"),
    (batches.threads, "asyncio"),
    (batches.gather, "asyncio"),
    (batches.own_loop, "asyncio"),
    (batches.task_group, "asyncio"),
    (batches.task_group, "trio"),
    (batches.nursery, "trio"),
]


@pytest.mark.parametrize(("way", "backend"), WAYS)
def test_the_calls_of_a_batch_begin_before_the_first_ends(way: Way, backend: str) -> None:
    assert len(orders(way, backend)) > 2


@pytest.mark.real
@pytest.mark.parametrize(("way", "backend"), WAYS)
def test_a_seed_gives_one_history_twenty_times(way: Way, backend: str) -> None:
    scenario = three()
    histories = {canonical(played(scenario, 3, way, backend).history) for _ in range(20)}
    assert len(histories) == 1


@pytest.mark.real
@pytest.mark.parametrize("way", ["tool_node", "async_tool_node"])
def test_the_tool_node_of_langgraph_runs_a_batch_at_once(way: str) -> None:
    require("langchain", is_installed("langchain"))
    code = f"from tests.runner import batches as b; print(len(b.orders(b.{way})))"
    words = [str(python_of("langchain")), "-c", code]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 2


class Polls:
    """An agent that keeps its rows by aiosqlite, and looks at the clock while it waits for it."""

    def __init__(self, path: Path) -> None:
        self.path, self.looks = path, 0

    async def __call__(self, brief: Any) -> None:
        import aiosqlite

        client, said = brief.async_anthropic(), list[Any]()
        async with aiosqlite.connect(self.path) as rows:
            await rows.execute("create table if not exists said (text text)")
            for message in brief.inbox():
                job = asyncio.ensure_future(self.kept(rows, message.text))
                while not (await asyncio.wait([job], timeout=0.05))[0]:
                    self.looks += 1
                said.append({"role": "user", "content": message.text})
                reply = await client.messages.create(model="any", max_tokens=50, messages=said)
                said.append({"role": "assistant", "content": reply.content[0].text})
                brief.send(reply.content[0].text, in_reply_to=message.id)

    async def kept(self, rows: Any, text: str) -> None:
        for _ in range(6):
            await rows.execute("insert into said values (?)", [text])
            await rows.commit()


BUSY = "while True: pass"


@pytest.mark.real
def test_a_store_in_a_thread_beside_a_poll_passes_on_a_busy_machine(tmp_path: Path) -> None:
    pytest.importorskip("aiosqlite")
    inbox = tuple(InboxItem(text=f"Number {n}?") for n in range(3))
    script = tuple(Turn(say=f"It is {n}.") for n in range(3))
    scenario = Scenario(name="kept", inbox=inbox, script=script)
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    try:
        for number in range(20):
            agent = Polls(tmp_path / f"{number}.db")
            verdict = run(scenario, agent).verdict
            assert (verdict.verdict, agent.looks) == ("pass", 0), verdict
    finally:
        for each in busy:
            each.kill()
            each.wait()
