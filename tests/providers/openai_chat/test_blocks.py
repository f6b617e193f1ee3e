"""Messages: what a row says survives reading and writing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from harness.core.values.messages import (
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    side,
)
from harness.providers.openai_chat.blocks import message_from, message_to, rows
from harness.providers.shared.reader import Malformed
from tests.providers.openai_chat import strategies as some


@given(some.rows())
def test_what_is_written_is_read_back(row: Message) -> None:
    assert message_from(message_to(row)) == row


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
ROWS: list[tuple[dict[str, Json], Message]] = [
    ({"role": "user", "content": "hi"}, Message("user", (Text("hi"),))),
    ({"role": "user", "content": ""}, Message("user", (Text(""),))),
    ({"role": "assistant", "content": None}, Message("assistant")),
    ({"role": "assistant"}, Message("assistant")),
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [CALL],
            "refusal": None,
            "audio": None,
        },
        assistant(ToolUse("c", "f", {"a": 1})),
    ),
    (
        {"role": "assistant", "content": "x", "function_call": {"name": "f", "arguments": ""}},
        assistant("x", ToolUse("f", "f", "", {"type": "function_call"})),
    ),
    (
        {"role": "assistant", "content": "x", "reasoning_content": "hm", "annotations": []},
        assistant(Thinking("hm"), "x"),
    ),
    (
        {"role": "tool", "tool_call_id": "c", "content": "42"},
        Message("tool", (ToolResult("c", "42"),)),
    ),
    (
        {"role": "function", "name": "f", "content": "42"},
        Message("function", (ToolResult("f", "42"),)),
    ),
    (
        {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"a": 1}}]},
        Message("user", (Text("x"),)),
    ),
    (
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
        Message("user", (Opaque("image_url", {"type": "image_url", "image_url": {"url": "u"}}),)),
    ),
]


@pytest.mark.parametrize(("row", "message"), ROWS)
def test_a_row_of_the_wire_is_a_message_of_the_core(row: dict[str, Json], message: Message) -> None:
    assert message_from(row) == message
    assert message_from(message_to(message)) == message


BAD: list[dict[str, Any]] = [
    {"role": "user", "content": 3},
    {"role": "user", "content": []},
    {"role": "user", "content": ["x"]},
    {"role": "user", "content": {"type": "text", "text": "x"}},
    {"role": "assistant", "content": "x", "tool_calls": []},
    {"role": "assistant", "content": "x", "tool_calls": "x"},
    {"role": "assistant", "content": "x", "tool_calls": [{"id": 3}]},
    {"role": "assistant", "content": "x", "tool_calls": [{**CALL, "function": {"name": "f"}}]},
    {"role": "assistant", "content": "x", "tool_calls": [{**CALL, "type": "brand_new"}]},
    {"role": "assistant", "content": "x", "function_call": {"name": "f"}},
    {"role": "assistant", "content": "x", "reasoning_content": {"a": 1}},
    {"role": "tool", "content": "x"},
    {"role": "tool", "content": "x", "tool_call_id": 3},
    {"role": "tool", "content": None, "tool_call_id": "c"},
    {"role": "tool", "content": [], "tool_call_id": "c"},
]


@pytest.mark.parametrize("row", BAD)
def test_what_the_api_would_refuse_is_kept_to_the_letter(row: dict[str, Json]) -> None:
    assert message_to(message_from(row)) == row


@pytest.mark.parametrize(
    ("value", "path", "missing"),
    [(3, "", False), ({}, ".role", True), ({"role": None}, ".role", False)],
)
def test_what_is_no_message_says_where(value: Json, path: str, missing: bool) -> None:
    with pytest.raises(Malformed) as caught:
        message_from(value)
    assert (caught.value.path, caught.value.missing) == (path, missing)


def test_tool_rows_are_a_side_of_their_own() -> None:
    assert side(message_from({"role": "tool", "tool_call_id": "c", "content": ""})) == "tool"


def test_results_in_a_user_message_are_rows_before_it() -> None:
    one, two = ToolResult("a", "1"), ToolResult("b", "2", is_error=True)
    told = Message("user", (one, two, Text("and now?")))
    assert rows(told) == (
        Message("tool", (one,)),
        Message("tool", (two,)),
        Message("user", (Text("and now?"),)),
    )
    assert rows(results(one)) == (Message("tool", (one,)),)
    assert rows(Message("tool", (one,))) == (Message("tool", (one,)),)
