"""What a graph must hold to be played, without LangGraph itself."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from harness.adapters.graph_thread import langgraph
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
