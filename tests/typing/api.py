"""The public API as a user writes against it: checked by `mypy --strict`, never run."""

from __future__ import annotations

from typing import assert_type

from harness.core.messages import Message, Text, ToolResult, ToolUse, assistant, results, user

question = user("Please remember that I moved to Oslo.")
assert_type(question, Message)
assert_type(question.text, str)

call = assistant("One moment.", ToolUse(id="toolu_1", name="memory", input={"action": "add"}))
assert_type(call.tool_uses, tuple[ToolUse, ...])
assert_type(results(ToolResult(id="toolu_1", content="done")).tool_results, tuple[ToolResult, ...])
assert_type(Text("yes").text, str)
