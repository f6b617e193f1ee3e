"""Bedrock Converse, both ways."""

from __future__ import annotations

import json

from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.recordings.apis.bedrock_converse import BEDROCK_CONVERSE

USE = {"toolUse": {"toolUseId": "t", "name": "f", "input": {"x": 1}}}
RESULT = {
    "toolResult": {
        "toolUseId": "t",
        "content": [{"text": "a"}, {"json": {"b": 1}}],
        "status": "error",
    }
}


def test_a_request() -> None:
    image = {"image": {"format": "png"}}
    asked = BEDROCK_CONVERSE.request(
        {
            "system": [{"text": "be brief"}],
            "messages": [
                {"role": "user", "content": [{"text": "go"}, image]},
                {"role": "assistant", "content": [USE]},
                {"role": "user", "content": [RESULT]},
            ],
            "toolConfig": {
                "tools": [
                    {"toolSpec": {"name": "f", "inputSchema": {"json": {"required": ["x"]}}}},
                    {"cachePoint": {}},
                ]
            },
        }
    )
    assert asked is not None
    assert asked.system == "be brief"
    assert [(tool.name, tool.required) for tool in asked.tools] == [("f", ("x",))]
    assert asked.messages == (
        Message("user", (Text("go"), Opaque("image", image))),
        Message("assistant", (ToolUse("t", "f", {"x": 1}),)),
        Message("user", (ToolResult("t", (Text("a"), Text('{"b":1}')), True),)),
    )


def test_an_answer() -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}
    message = {"role": "assistant", "content": [thought, {"text": "a"}, USE]}
    body = json.dumps({"output": {"message": message}, "stopReason": "tool_use"}).encode()
    parsed = BEDROCK_CONVERSE.answer(body, "application/json")
    assert parsed.message is not None
    assert parsed.message.blocks == (Thinking("hm", "s"), Text("a"), ToolUse("t", "f", {"x": 1}))
    assert parsed.stop == "tool_use"


def test_an_error_and_no_answer() -> None:
    parsed = BEDROCK_CONVERSE.answer(b'{"message": "no"}', "application/json")
    assert parsed.error is not None
    assert parsed.error.message == "no"
    assert BEDROCK_CONVERSE.answer(b"<html>", "").error is None
    assert BEDROCK_CONVERSE.request({}) is None
