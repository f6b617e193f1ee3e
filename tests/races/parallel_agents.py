"""Two small agents that run a batch of calls side by side: in a thread pool, and in asyncio tasks.

Each is a plain loop over one client. A race is in what its `Batch` does with the results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

from harness.core.values.brief import Brief

Rows: TypeAlias = list[dict[str, Any]]


class Loop:
    """The conversation of one user: rows for the model, and its calls."""

    def __init__(self, brief: Brief, system: str = "") -> None:
        self.brief, self.system = brief, system
        self.tools = {tool.name: tool for tool in brief.tools}
        self.rows: Rows = []

    def request(self, rows: Rows | None = None) -> dict[str, Any]:
        """The arguments of the next request."""
        offered = [
            {"name": t.name, "description": t.description or t.name, "input_schema": t.input_schema}
            for t in self.tools.values()
        ]
        messages = self.rows if rows is None else rows
        return {"model": "m", "max_tokens": 500, "messages": messages, "tools": offered}

    def calls_of(self, answer: Any) -> list[Any]:
        """The calls of an answer, which is added to the rows."""
        blocks = [block.model_dump(exclude_none=True) for block in answer.content]
        self.rows.append({"role": "assistant", "content": blocks})
        return [block for block in answer.content if block.type == "tool_use"]

    def call(self, use: Any) -> Any:
        """Call a tool; what it raises is its result."""
        return self.tools[use.name].call(use.input, id=use.id)


def result(use: Any, content: object, *, is_error: bool = False) -> dict[str, Any]:
    """The row of a result."""
    row = {"type": "tool_result", "tool_use_id": use.id, "content": str(content)}
    return {**row, "is_error": True} if is_error else row


Pooled: TypeAlias = Callable[[Loop, list[Any], dict[Future[Any], Any]], Rows]
Tasked: TypeAlias = Callable[[Loop, list[Any]], Awaitable[Rows]]


def pool_agent(brief: Brief, batch: Pooled) -> None:
    """Answer each message; calls run in a pool, and `batch` makes rows of their futures."""
    client = brief.anthropic()
    for inbound in brief.inbox():
        loop = Loop(brief)
        loop.rows.append({"role": "user", "content": inbound.text})
        while uses := loop.calls_of(answer := client.messages.create(**loop.request())):
            with ThreadPoolExecutor(8) as pool:
                futures = {pool.submit(loop.call, use): use for use in uses}
                rows = batch(loop, uses, futures)
            loop.rows.append({"role": "user", "content": rows})
        brief.send(answer.content[0].text, in_reply_to=inbound.id)


async def task_agent(brief: Brief, batch: Tasked) -> None:
    """Answer each message; `batch` runs the calls of an answer in tasks."""
    client = brief.async_anthropic()
    for inbound in brief.inbox():
        loop = Loop(brief)
        loop.rows.append({"role": "user", "content": inbound.text})
        while uses := loop.calls_of(answer := await client.messages.create(**loop.request())):
            loop.rows.append({"role": "user", "content": await batch(loop, uses)})
        brief.send(answer.content[0].text, in_reply_to=inbound.id)


async def in_thread(loop: Loop, use: Any) -> Any:
    """Call a tool in a thread of the event loop."""
    return await asyncio.to_thread(loop.call, use)
