"""Tools that run side by side finish in an order that the seed draws."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest

from harness.core.history.history import canonical
from harness.core.scenario.scenario import Scenario
from harness.core.values.brief import Brief
from harness.core.values.plans import Wait
from harness.files import load_scenarios
from harness.runner import run
from tests.runner.batches import YAML

SEEDS = range(12)


class Parallel:
    """An agent that runs the calls of an answer in threads; `as_they_come` mixes the results up."""

    def __init__(self, as_they_come: bool = False) -> None:
        self.as_they_come = as_they_come
        self.finished: list[str] = []

    async def __call__(self, brief: Brief) -> None:
        client = brief.async_anthropic()
        (tool,) = brief.tools
        offered: Any = [{"name": tool.name, "input_schema": tool.input_schema}]
        for message in brief.inbox():
            rows: list[Any] = [{"role": "user", "content": message.text}]
            while True:
                reply = await client.messages.create(
                    model="any", max_tokens=500, messages=rows, tools=offered
                )
                blocks = [block.model_dump(exclude_none=True) for block in reply.content]
                rows.append({"role": "assistant", "content": blocks})
                calls = [block for block in blocks if block["type"] == "tool_use"]
                if not calls:
                    break
                said = await self._results(tool, calls)
                rows.append({"role": "user", "content": said})
            brief.send(blocks[-1]["text"], in_reply_to=message.id)

    async def _results(self, tool: Any, calls: list[Any]) -> list[Any]:
        async def one(call: Any) -> str:
            text = await asyncio.to_thread(tool.call, call["input"], id=call["id"])
            self.finished.append(call["input"]["page"])
            return str(text)

        jobs = [one(call) for call in calls]
        if self.as_they_come:
            texts = [await job for job in asyncio.as_completed(jobs)]
        else:
            texts = list(await asyncio.gather(*jobs))
        return [
            {"type": "tool_result", "tool_use_id": call["id"], "content": text}
            for call, text in zip(calls, texts, strict=True)
        ]


Seeded: TypeAlias = Callable[[int], Scenario]


@pytest.fixture
def seeded(tmp_path: Path) -> Seeded:
    (tmp_path / "three.yaml").write_text(YAML, "utf-8")
    (scenario,) = load_scenarios(tmp_path / "three.yaml")
    return lambda seed: msgspec.structs.replace(scenario, seed=seed)


def test_the_order_in_which_they_finish_is_the_seeds(seeded: Seeded) -> None:
    orders = []
    for seed in SEEDS:
        agent = Parallel()
        assert run(seeded(seed), agent).verdict.verdict == "pass"
        orders.append(tuple(agent.finished))
    assert len(set(orders)) >= 4
    again = Parallel()
    run(seeded(SEEDS[-1]), again)
    assert tuple(again.finished) == orders[-1]


def test_results_that_are_paired_as_they_come_are_found(seeded: Seeded) -> None:
    verdicts = [run(seeded(seed), Parallel(as_they_come=True)).verdict for seed in SEEDS]
    codes = {finding.code for verdict in verdicts for finding in verdict.findings}
    assert codes == {"history_faithful.swapped_result", "result_carried.other"}


def test_one_call_alone_does_not_wait(seeded: Seeded) -> None:
    def alone(brief: Brief) -> None:
        for message in brief.inbox():
            brief.tools[0].call({"page": "one"}, id="t1")
            brief.send("Read.", in_reply_to=message.id)

    history = run(seeded(0), alone).history
    ran = next(a for a in history.trace.answers if a.seam == "tool")
    assert not any(isinstance(step, Wait) for step in ran.steps)


def test_the_history_says_when_each_answer_came(seeded: Seeded) -> None:
    agent = Parallel()
    history = run(seeded(3), agent).history
    runs = history.trace.executions
    waits = [sum(s.ms for s in r.answered.steps if isinstance(s, Wait)) for r in runs if r.answered]
    came = {run.request.input["page"]: wait for run, wait in zip(runs, waits, strict=True)}
    assert agent.finished == sorted(came, key=lambda page: came[page])
    assert canonical(history) == canonical(run(seeded(3), Parallel()).history)
