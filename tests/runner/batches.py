"""Agents that run the calls of an answer side by side: in threads, pools, loops and a graph.

Without pytest, because the environment of a framework does not have it.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.core.values.brief import Brief
from harness.core.values.plans import Wait
from harness.files import load_scenarios
from harness.runner import Run, run
from harness.targets import of_callable

YAML = """
name: three
tools:
  fetch:
    input_schema: {type: object, properties: {page: {type: string}}, required: [page]}
    script: [{ok: "the page of Ada"}, {ok: "the page of Bob"}, {ok: "the page of Cleo"}]
inbox: "Read the three pages."
script:
  - blocks:
      - {type: tool_use, name: fetch, input: {page: one}}
      - {type: tool_use, name: fetch, input: {page: two}}
      - {type: tool_use, name: fetch, input: {page: three}}
  - {say: "Read."}
"""

Calls: TypeAlias = list[Callable[[], Any]]
Way: TypeAlias = Callable[[Calls], Any]


def pool(calls: Calls) -> list[Any]:
    """As a graph's tool node does: a pool for the batch, each call in a copy of the context."""
    with ThreadPoolExecutor() as workers:
        jobs = [workers.submit(contextvars.copy_context().run, call) for call in calls]
        return [job.result() for job in jobs]


def threads(calls: Calls) -> list[Any]:
    results: list[Any] = [None] * len(calls)

    def one(place: int) -> None:
        results[place] = calls[place]()

    started = [threading.Thread(target=one, args=[place]) for place in range(len(calls))]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return results


async def gather(calls: Calls) -> list[Any]:
    return list(await asyncio.gather(*map(asyncio.to_thread, calls)))


def own_loop(calls: Calls) -> list[Any]:
    """A synchronous agent that starts a loop for each batch."""
    return asyncio.run(gather(calls))


async def task_group(calls: Calls) -> list[Any]:
    """A task group of anyio: on trio it is a nursery."""
    import anyio

    results: list[Any] = [None] * len(calls)

    async def one(place: int) -> None:
        results[place] = await anyio.to_thread.run_sync(calls[place])

    async with anyio.create_task_group() as group:
        for place in range(len(calls)):
            group.start_soon(one, place)
    return results


async def nursery(calls: Calls) -> list[Any]:
    import trio

    results: list[Any] = [None] * len(calls)

    async def one(place: int) -> None:
        results[place] = await trio.to_thread.run_sync(calls[place])

    async with trio.open_nursery() as opened:
        for place in range(len(calls)):
            opened.start_soon(one, place)
    return results


def tool_node(calls: Calls) -> list[Any]:
    """The tool node of LangGraph, which has a pool of threads."""
    graph, asked = _graph(calls)
    return [message.content for message in graph.invoke(asked)["messages"][1:]]


async def async_tool_node(calls: Calls) -> list[Any]:
    """The same in a loop, which runs synchronous tools in threads."""
    graph, asked = _graph(calls)
    return [message.content for message in (await graph.ainvoke(asked))["messages"][1:]]


def _graph(calls: Calls) -> tuple[Any, Any]:
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    @tool
    def nth(place: int) -> str:
        """Make one of the calls."""
        return str(calls[place]())

    graph = StateGraph(MessagesState).add_node("tools", ToolNode([nth]))
    graph = graph.set_entry_point("tools").set_finish_point("tools")
    uses = [{"name": "nth", "args": {"place": n}, "id": str(n)} for n in range(len(calls))]
    return graph.compile(), {"messages": [AIMessage("", tool_calls=uses)]}


def agent_of(way: Way, backend: str = "asyncio") -> Any:
    """A target that runs the calls of an answer in this way."""

    def agent(brief: Brief) -> None:
        work, texts = _work(brief), None
        try:
            while True:
                texts = way(work.send(texts))
        except StopIteration:
            return

    async def async_agent(brief: Brief) -> None:
        work, texts = _work(brief), None
        try:
            while True:
                texts = await way(work.send(texts))
        except StopIteration:
            return

    chosen = async_agent if inspect.iscoroutinefunction(way) else agent
    return of_callable(chosen, {"backend": backend})


def _work(brief: Brief) -> Generator[Calls, Any, None]:
    """Converse; each batch of calls is yielded, and its results are sent in."""
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
            texts = yield [lambda u=use: tool.call(u["input"], id=u["id"]) for use in uses]
            said = [
                {"type": "tool_result", "tool_use_id": use["id"], "content": text}
                for use, text in zip(uses, texts, strict=True)
            ]
            rows.append({"role": "user", "content": said})
        brief.send(blocks[-1]["text"], in_reply_to=message.id)


def three() -> Scenario:
    """Three calls in one answer."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "three.yaml")
        path.write_text(YAML, "utf-8")
        (scenario,) = load_scenarios(path)
        return scenario


def played(scenario: Scenario, seed: int, way: Way, backend: str = "asyncio") -> Run:
    return run(msgspec.structs.replace(scenario, seed=seed), agent_of(way, backend))


def order_of_ends(played: Run) -> tuple[int, ...]:
    """The places of the calls in the order of their ends; all of them begin before the first."""
    assert played.verdict.verdict == "pass", played.verdict
    runs = played.history.trace.executions
    assert [r.request.input["page"] for r in runs] == ["one", "two", "three"]
    ends = [
        r.called.at_ms + sum(s.ms for s in r.answered.steps if isinstance(s, Wait))
        for r in runs
        if r.answered
    ]
    assert max(r.called.at_ms for r in runs) < min(ends)
    return tuple(sorted(range(3), key=lambda n: ends[n]))


def orders(way: Way, backend: str = "asyncio", seeds: int = 6) -> set[tuple[int, ...]]:
    scenario = three()
    return {order_of_ends(played(scenario, seed, way, backend)) for seed in range(seeds)}
