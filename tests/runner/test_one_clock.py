"""The calls of a batch in a pool of threads: all begin before the first ends, as the seed says."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.core.history.history import canonical
from harness.core.scenario.scenario import Scenario
from harness.core.values.brief import Brief
from harness.core.values.plans import Wait
from harness.files import load_scenarios
from harness.runner import run
from harness.targets import of_callable
from tests.runner.test_parallel_tools import YAML

SEEDS = range(6)


def _pool(calls: list[Callable[[], Any]]) -> list[Any]:
    """As a graph's tool node does: a pool for the batch, each call in a copy of the context."""
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(contextvars.copy_context().run, call) for call in calls]
        return [job.result() for job in jobs]


def _threads(calls: list[Callable[[], Any]]) -> list[Any]:
    results: list[Any] = [None] * len(calls)

    def one(place: int) -> None:
        results[place] = calls[place]()

    threads = [threading.Thread(target=one, args=[place]) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _loop(calls: list[Callable[[], Any]]) -> list[Any]:
    async def gathered() -> list[Any]:
        return list(await asyncio.gather(*map(asyncio.to_thread, calls)))

    return asyncio.run(gathered())


def _anyio(calls: list[Callable[[], Any]]) -> list[Any]:
    return _of_anyio(calls, "asyncio")


def _of_anyio(calls: list[Callable[[], Any]], backend: str) -> list[Any]:
    anyio = pytest.importorskip("anyio")
    results: list[Any] = [None] * len(calls)

    async def one(place: int) -> None:
        results[place] = await anyio.to_thread.run_sync(calls[place])

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for place in range(len(calls)):
                group.start_soon(one, place)

    anyio.run(main, backend=backend)
    return results


class Batch:
    """A synchronous agent that runs the calls of an answer by `side_by_side`."""

    def __init__(self, side_by_side: Callable[[list[Callable[[], Any]]], list[Any]]) -> None:
        self.side_by_side = side_by_side

    def __call__(self, brief: Brief) -> None:
        client = brief.anthropic()
        (tool,) = brief.tools
        offered: Any = [{"name": tool.name, "input_schema": tool.input_schema}]
        for message in brief.inbox():
            rows: list[Any] = [{"role": "user", "content": message.text}]
            while True:
                reply = client.messages.create(
                    model="any", max_tokens=500, messages=rows, tools=offered
                )
                blocks = [block.model_dump(exclude_none=True) for block in reply.content]
                rows.append({"role": "assistant", "content": blocks})
                uses = [block for block in blocks if block["type"] == "tool_use"]
                if not uses:
                    break
                calls = [lambda u=use: tool.call(u["input"], id=u["id"]) for use in uses]
                texts = self.side_by_side(calls)
                said = [
                    {"type": "tool_result", "tool_use_id": use["id"], "content": text}
                    for use, text in zip(uses, texts, strict=True)
                ]
                rows.append({"role": "user", "content": said})
            brief.send(blocks[-1]["text"], in_reply_to=message.id)


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    (tmp_path / "three.yaml").write_text(YAML, "utf-8")
    (scenario,) = load_scenarios(tmp_path / "three.yaml")
    return scenario


WAYS = [_pool, _threads, _loop, _anyio]


@pytest.mark.parametrize("way", WAYS)
def test_the_calls_of_a_batch_begin_before_the_first_ends(
    scenario: Scenario, way: Callable[[list[Callable[[], Any]]], list[Any]]
) -> None:
    orders = set()
    for seed in SEEDS:
        seeded = msgspec.structs.replace(scenario, seed=seed)
        played = run(seeded, of_callable(Batch(way)))
        assert played.verdict.verdict == "pass"
        runs = played.history.trace.executions
        assert [r.request.input["page"] for r in runs] == ["one", "two", "three"]
        began = [r.called.at_ms for r in runs]
        ends = [
            r.called.at_ms + sum(s.ms for s in r.answered.steps if isinstance(s, Wait))
            for r in runs
            if r.answered
        ]
        assert max(began) < min(ends)
        orders.add(tuple(sorted(range(3), key=lambda n, ends=ends: ends[n])))
    assert len(orders) > 2


@pytest.mark.real
@pytest.mark.parametrize("way", WAYS)
def test_a_seed_gives_one_history_twenty_times(
    scenario: Scenario, way: Callable[[list[Callable[[], Any]]], list[Any]]
) -> None:
    histories = {canonical(run(scenario, of_callable(Batch(way))).history) for _ in range(20)}
    assert len(histories) == 1
