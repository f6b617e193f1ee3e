"""Functions in a namespace, as Codex offers the tools of an MCP server."""

from __future__ import annotations

import msgspec

from harness.core.values.draws import Draws
from harness.core.values.messages import Json, ToolUse
from harness.core.values.plans import Reply
from harness.providers import by_name

READ: dict[str, Json] = {"type": "function", "name": "read", "parameters": {"type": "object"}}
TOOLS: list[Json] = [
    {"type": "function", "name": "mcp__plain__read", "parameters": {"type": "object"}},
    {"type": "namespace", "name": "mcp__files", "tools": [READ]},
]


def _reading(*items: Json) -> tuple[object, object]:
    wire = by_name("openai-responses")
    body = {"model": "gpt-5", "input": [{"role": "user", "content": "Hi"}, *items], "tools": TOOLS}
    reader = wire.reader("strict")
    return wire, reader.read(msgspec.json.encode(body))


def test_they_are_offered_by_one_name() -> None:
    _, reading = _reading()
    assert [tool.name for tool in reading.tools] == ["mcp__plain__read", "mcp__files__read"]  # type: ignore[attr-defined]


def test_a_call_of_one_has_the_namespace_beside_the_name() -> None:
    wire, reading = _reading()
    calls = (ToolUse("call_1", "mcp__files__read", {}), ToolUse("call_2", "mcp__plain__read", {}))
    (sent,) = wire.write(Reply(calls), reading, "main/model#1", Draws(0))  # type: ignore[attr-defined]
    said = msgspec.json.decode(sent.data)["output"]
    assert [(item["name"], item.get("namespace")) for item in said] == [
        ("read", "mcp__files"),
        ("mcp__plain__read", None),
    ]


def test_a_call_that_comes_back_is_the_one_that_was_sent() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "read", "namespace": "mcp__files",
            "arguments": "{}"}  # fmt: skip
    _, reading = _reading(call, {"type": "function_call_output", "call_id": "c", "output": "x"})
    assert reading.violations == ()  # type: ignore[attr-defined]
    blocks = [b for m in reading.messages for b in m.blocks if isinstance(b, ToolUse)]  # type: ignore[attr-defined]
    assert blocks == [ToolUse("c", "mcp__files__read", {})]
