"""What a graph must hold to be played, without LangGraph itself."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest

from harness import Text, ToolResult, ToolUse, assistant, results, user
from harness.adapters.graph_thread import Threads, _rows, langgraph
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.runner import run


class Skeleton:
    """A graph as `langgraph new` makes it: its state has no messages."""

    checkpointer = None
    nodes: dict[str, Any] = {}  # noqa: RUF012 (as LangGraph's own)

    async def ainvoke(self, asked: Any, config: Any) -> dict[str, str]:
        return {"changeme": "output"}


def test_a_graph_without_messages_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: Any = ModuleType("langgraph.errors")
    errors.GraphRecursionError = RuntimeError
    monkeypatch.setitem(sys.modules, "langgraph", ModuleType("langgraph"))
    monkeypatch.setitem(sys.modules, "langgraph.errors", errors)
    hello = Scenario(name="hello", inbox=(InboxItem(text="Hello"),), script=(Turn(say="Hi."),))
    found = run(hello, langgraph(Skeleton())).verdict.failing[0]
    assert found.code == "target.crashed"
    assert "the state of the graph has no messages, so it cannot be played" in found.message


def test_a_past_becomes_messages_of_langchain() -> None:
    call = ToolUse("call_1", "look", {"at": "x"})
    past = [user("Look."), assistant(Text("I look."), call), results(ToolResult("call_1", "cat"))]
    assert [row for message in past for row in _rows(message)] == [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant", "content": [{"type": "text", "text": "I look."}],
            "tool_calls": [
                {"type": "tool_call", "id": "call_1", "name": "look", "args": {"at": "x"}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "cat", "status": "success"},
    ]  # fmt: skip


class Saved:
    """A graph whose saver has no async methods, and what its thread holds."""

    def __init__(self, waits: bool) -> None:
        self.next = ("tools",) if waits else ()
        self.values: dict[str, Any] = {}
        self.rows: list[Any] = []

    async def aget_state(self, config: Any) -> Any:
        raise NotImplementedError

    def get_state(self, config: Any) -> Any:
        return self

    def update_state(self, config: Any, rows: Any, as_node: str) -> None:
        self.rows, self.values = rows["messages"], rows


@pytest.mark.parametrize(("waits", "attempt"), [(True, 1), (True, 2), (False, 2)])
def test_a_killed_call_goes_on_where_its_message_comes_again(
    waits: bool, attempt: int, tmp_path: Path
) -> None:
    (tmp_path / "seed.jsonl").write_bytes(msgspec.json.encode(user("Before.")) + b"\n")
    graph, brief = Saved(waits), SimpleNamespace(session_dir=tmp_path)
    threads = Threads(brief, graph, {"recursion_limit": 9}, run="")
    message = SimpleNamespace(session="main", text="Hello", attempt=attempt)

    async def asked() -> Any:
        config = await threads.config("main")
        assert config == {"recursion_limit": 9, "configurable": {"thread_id": "main"}}
        return await threads.asked(message, config)

    said = {"messages": [{"role": "user", "content": "Hello"}]}
    assert asyncio.run(asked()) == (None if waits and attempt == 2 else said)
    assert graph.rows == [{"role": "user", "content": "Before."}]
    assert threads.is_sync
