"""The model over Chat Completions: what it sends for a query, and for each kind of message."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent.models.model_call import Query
from harness.agent.models.openai_chat_model import write_rows
from harness.core.values.messages import (
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from tests.agent.openai_chat_stand import ASK, Stand, completion, whole_call


def test_what_is_sent_says_what_the_query_says() -> None:
    stand = Stand(completion("stop", content="x"))
    withdrawn = Query(ASK.messages, ASK.tools, True, "compact", "Be brief.")
    stand.query(withdrawn)
    function = {"name": "read", "description": "Reads."}
    empty = {"type": "object", "properties": {}}
    assert stand.asked[0] == {
        "model": "gpt-x",
        "max_completion_tokens": 100,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
        ],
        "tools": [{"type": "function", "function": {**function, "parameters": empty}}],
        "tool_choice": "none",
    }
    assert stand.headers[0]["x-harness-purpose"] == "compact"


def test_without_tools_none_are_named() -> None:
    stand = Stand(completion("stop", content="x"))
    stand.query(Query(ASK.messages, (), True))
    assert not stand.asked[0].keys() & {"tools", "tool_choice"}


def test_a_query_with_a_time_limit_is_not_streamed() -> None:
    stand = Stand(completion("stop", content="x"), stream=True)
    stand.query(Query(ASK.messages, timeout_s=5))
    assert "stream" not in stand.asked[0]


ROWS: list[tuple[Message, list[dict[str, Any]]]] = [
    (user("a"), [{"role": "user", "content": "a"}]),
    (
        Message("user", (Text("a"), Text("b"))),
        [{"role": "user", "content": [{"type": "text", "text": t} for t in "ab"]}],
    ),
    (
        Message("user", (ToolResult("c", "1"), ToolResult("d", (Text("2"), Text("3"))), Text("x"))),
        [
            {"role": "tool", "tool_call_id": "c", "content": "1"},
            {"role": "tool", "tool_call_id": "d", "content": "2\n3"},
            {"role": "user", "content": "x"},
        ],
    ),
    (
        Message("user", (ToolResult("c", "usage: read", is_error=True),)),
        [{"role": "tool", "tool_call_id": "c", "content": "Error: usage: read"}],
    ),
    (
        Message("user", (ToolResult("c", (Opaque("image", {"type": "image"}),)),)),
        [{"role": "tool", "tool_call_id": "c", "content": "[image]"}],
    ),
    (assistant("a", "b"), [{"role": "assistant", "content": "a\nb"}]),
    (assistant(Thinking("hm"), "a"), [{"role": "assistant", "content": "a"}]),
    (assistant(), [{"role": "assistant", "content": ""}]),
    (
        assistant(ToolUse("c", "read", {"p": "é"})),
        [{"role": "assistant", "content": None, "tool_calls": [whole_call("c", '{"p": "é"}')]}],
    ),
]


@pytest.mark.parametrize(("message", "rows"), ROWS)
def test_a_message_is_the_rows_that_the_wire_has_for_it(
    message: Message, rows: list[dict[str, Any]]
) -> None:
    assert list(write_rows(message)) == rows


@pytest.mark.parametrize(
    ("said", "sent"),
    [("functions.read", "functions_read"), ("r" * 70, "r" * 64), ("", "_"), ("read", "read")],
)
def test_a_name_that_no_tool_can_have_is_spelt_as_one_could(said: str, sent: str) -> None:
    (row,) = write_rows(assistant(ToolUse("a", said, {})))
    assert row["tool_calls"][0]["function"]["name"] == sent
