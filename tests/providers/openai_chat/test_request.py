"""Requests: what their fields and rows say, and what is not a request."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.transition.ports import Reading
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    user,
)
from harness.providers.openai_chat.record import RECORD
from harness.providers.openai_chat.request import OpenAIChatReader

TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]


def read(*messages: Any, dialect: str = RECORD.dialects.default, **fields: Any) -> Reading:
    """The reading of a request."""
    body = {"model": "m", "messages": messages or [{"role": "user", "content": "hi"}], **fields}
    return OpenAIChatReader(dialect, None).read(msgspec.json.encode(body))


def test_the_fields_of_a_request() -> None:
    reading = read(
        max_completion_tokens=7,
        stream=True,
        tools=TOOLS,
        stream_options={"include_usage": True},
        temperature=0.5,
    )
    assert (reading.model, reading.max_tokens, reading.stream) == ("m", 7, True)
    assert reading.messages == (user("hi"),)
    assert reading.tools == (ToolSpec("read", "", {"type": "object"}),)
    assert reading.tools_offered
    assert reading.settings == {"stream_options": {"include_usage": True}, "temperature": 0.5}
    assert reading.violations == ()
    assert read(max_tokens=9).max_tokens == 9


def test_each_row_is_a_message_and_tool_rows_are_no_users() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    reading = read(
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "d"}]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "tool", "tool_call_id": "d", "content": "2"},
        {"role": "system", "content": "Late."},
    )
    assert reading.violations == ()
    assert reading.system == "Be brief.\nBe kind."
    assert reading.messages[2:6] == (
        user("hi"),
        assistant(ToolUse("c", "read", {}), ToolUse("d", "read", {})),
        Message("tool", (ToolResult("c", "1"),)),
        Message("tool", (ToolResult("d", "2"),)),
    )
    assert reading.messages[0] == Message("system", (Text("Be brief."),))


@pytest.mark.parametrize("barred", [{"tool_choice": "none"}, {"function_call": "none"}])
def test_tools_that_must_not_be_called_are_not_offered(barred: dict[str, Any]) -> None:
    reading = read(functions=[{"name": "f", "description": "d"}], tools=TOOLS, **barred)
    assert [tool.name for tool in reading.tools] == ["read", "f"]
    assert not reading.tools_offered


def test_a_custom_tool_is_a_tool_without_a_schema() -> None:
    tool = {"type": "custom", "custom": {"name": "shell", "description": "Runs."}}
    reading = read(tools=[tool])
    assert reading.tools == (ToolSpec("shell", "Runs."),)
    assert reading.violations == ()


BROKEN = (b"", b'{"a":1', b'{"a":"\\ud83d"}', b'{"a":"\xff"}', b'{"a":NaN}', b"[]", b"3", b"null")


@pytest.mark.parametrize("body", [*BROKEN, b'{"a":' + b"[" * 9999, b'{"messages":[],"a":1e999}'])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    reading = OpenAIChatReader(RECORD.dialects.default, None).read(body)
    assert [v.rule for v in reading.violations] == ["C10"]


def test_every_missing_field_is_named() -> None:
    found = OpenAIChatReader(RECORD.dialects.default, None).read(b"{}").violations
    assert [v.error.message for v in found] == [
        "you must provide a model parameter",
        "Missing required parameter: 'messages'.",
    ]
