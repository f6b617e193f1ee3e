"""The tools of a scenario in a graph, without LangGraph itself."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import Any

import pytest

from harness.adapters.shared import graph_tools
from harness.core.values.brief import Tool


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"input": {"sum": 5}}, "paid 5"),
        ({"input": {"sum": 6}}, "paid 6 (the user changed the input to {'sum': 6})"),
        ({"refusal": "Not run."}, "Not run."),
    ],
)
def test_a_tool_runs_as_the_user_allows(
    said: dict[str, Any], answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    types: Any = ModuleType("langgraph.types")
    types.interrupt = lambda value: said
    monkeypatch.setitem(sys.modules, "langgraph", ModuleType("langgraph"))
    monkeypatch.setitem(sys.modules, "langgraph.types", types)
    tool = Tool("pay", "", {}, lambda given, id: f"paid {given['sum']}", needs_approval=True)

    async def ran(asks: bool) -> Any:
        graph_tools.ASKS.set(asks)
        return graph_tools._answer_of(tool, {"sum": 5})

    assert asyncio.run(ran(asks=True)) == answer
    assert asyncio.run(ran(asks=False)) == "paid 5"  # a graph without a checkpointer
