"""Anthropic Messages in recordings: what the wire's own reader would refuse is read too."""

from __future__ import annotations

from harness.core.values.messages import Message, Opaque, Text, ToolResult
from harness.providers import by_name

API = by_name("anthropic").recorded


def test_a_request() -> None:
    asked = API.request(
        {
            "anthropic_version": "bedrock-2023-05-31",
            "system": "be brief",
            "messages": [
                {"role": "user", "content": "go"},
                {"role": "user"},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
            ],
            "tools": [{"name": "f", "input_schema": {"required": ["x"]}}, 3],
        }
    )
    assert asked is not None
    assert (asked.system, asked.tools[0].required, asked.stateful) == ("be brief", ("x",), False)
    assert asked.messages == (
        Message("user", (Text("go"),)),
        Message("user", (Opaque("malformed", {"role": "user"}),)),
        Message("user", (ToolResult("t"),)),
    )


def test_a_thread_that_goes_on_is_stateful() -> None:
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    asked = API.request({"messages": [], "thread": thread})
    assert asked is not None
    assert asked.stateful


def test_no_messages_is_no_request() -> None:
    assert API.request({"prompt": "x"}) is None
    assert API.request({"messages": "x"}) is None
