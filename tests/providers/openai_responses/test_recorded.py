"""Responses: items become messages, streams and states are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.messages import Message, Opaque, Text, ToolResult, ToolUse
from harness.providers import by_name
from tests.recordings.cassettes import sse

API = by_name("openai-responses").recorded

CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"x": 1}'}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "ok"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


def _asked(**fields: Any) -> Any:
    return API.request(fields)


def _messages(*items: Any) -> tuple[Message, ...]:
    return tuple(_asked(input=list(items)).messages)


def test_a_text_is_a_message_of_the_user() -> None:
    assert _asked(input="hi").messages == (Message("user", (Text("hi"),)),)


def test_neighbouring_items_of_the_assistant_are_one_message() -> None:
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "a"}],
    }
    found = _messages(
        {"role": "user", "content": "go"}, REASONING, said, CALL, CALL, OUTPUT, OUTPUT
    )
    assert [m.role for m in found] == ["user", "assistant", "tool", "tool"]
    assert found[1].blocks == (
        Opaque("reasoning", REASONING),
        Text("a"),
        ToolUse("c", "f", {"x": 1}),
        ToolUse("c", "f", {"x": 1}),
    )
    assert found[2].blocks == (ToolResult("c", "ok"),)


def test_an_output_may_be_parts() -> None:
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "u"}]
    (message,) = _messages({**OUTPUT, "output": parts})
    assert message.tool_results[0].content == (Text("a"), Opaque("input_image", parts[1]))


def test_tool_search_is_the_clients_only_when_it_says_so() -> None:
    call = {"type": "tool_search_call", "call_id": "c", "arguments": {"q": 1}}
    output = {"type": "tool_search_output", "call_id": "c", "tools": [{"name": "f"}]}
    client, server = {"execution": "client"}, {"execution": "server"}
    found = _messages({**call, **client}, {**output, **client})
    assert found[0].tool_uses == (ToolUse("c", "tool_search", {"q": 1}),)
    assert found[1].tool_results == (ToolResult("c", (Opaque("", {"name": "f"}),)),)
    (found_server,) = _messages({**call, **server}, {**output, **server})
    assert not found_server.tool_uses


def test_state_tools_and_instructions() -> None:
    inner = {"type": "function", "name": "g", "parameters": {"required": ["x"]}}
    asked = _asked(
        input=[OUTPUT],
        instructions="be brief",
        previous_response_id="resp_1",
        tools=[{"type": "function", "name": "f"}, {"type": "namespace", "tools": [inner]}],
    )
    assert (asked.stateful, asked.system) == (True, "be brief")
    assert [(tool.name, tool.required) for tool in asked.tools] == [("f", ()), ("g", ("x",))]
    assert _asked(input="x", conversation="conv_1").stateful
    assert _asked(input=[{"type": "item_reference", "id": "x"}]).stateful
    assert not _asked(input="x").stateful


def test_a_stored_prompt_needs_no_input() -> None:
    assert _asked(prompt={"id": "p"}).messages == ()
    assert _asked(model="m") is None


def test_instructions_alone_are_no_message_of_the_user() -> None:
    assert _asked(input="", instructions="be brief").messages == ()


def test_an_item_with_a_role_and_no_content_is_kept_whole() -> None:
    item = {"type": "additional_tools", "role": "developer", "tools": []}
    (message,) = _messages(item)
    assert (message.role, message.blocks) == ("developer", (Opaque("additional_tools", item),))


def _response(**fields: Any) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "output": [REASONING, CALL], **fields}


def _answer(value: Any) -> Any:
    return API.answer(json.dumps(value).encode(), "application/json")


def test_an_answer_is_one_message() -> None:
    parsed = _answer(_response())
    assert parsed.message.tool_uses == (ToolUse("c", "f", {"x": 1}),)
    assert (parsed.stop, parsed.complete) == ("completed", True)


def test_an_incomplete_answer_says_why() -> None:
    why = {"reason": "max_output_tokens"}
    parsed = _answer(_response(status="incomplete", incomplete_details=why))
    assert (parsed.stop, parsed.complete) == ("max_output_tokens", True)


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_an_answer_that_is_not_ready_says_nothing(status: str) -> None:
    parsed = _answer(_response(status=status, output=[]))
    assert (parsed.message, parsed.complete) == (None, False)


def test_an_error() -> None:
    parsed = _answer(_response(error={"code": "server_error", "message": "no"}))
    assert (parsed.message, parsed.error.type) == (None, "server_error")


def _streamed(*values: Any) -> Any:
    return API.answer(sse(*values), "text/event-stream")


CREATED = {"type": "response.created", "response": _response(status="in_progress", output=[])}
DONE = {"type": "response.output_item.done", "item": CALL}


def test_a_stream_ends_with_the_whole_response() -> None:
    parsed = _streamed(CREATED, DONE, {"type": "response.completed", "response": _response()})
    assert len(parsed.message.blocks) == 2
    assert parsed.complete


def test_a_stream_whose_response_leaves_out_the_items() -> None:
    last = {"type": "response.completed", "response": _response(output=[])}
    assert len(_streamed(CREATED, DONE, last).message.blocks) == 1


def test_a_stream_that_was_cut_is_incomplete() -> None:
    parsed = _streamed(CREATED, DONE)
    assert (len(parsed.message.tool_uses), parsed.complete) == (1, False)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "t", "message": "no"},
        {"type": "error", "error": {"code": "t", "message": "no"}},
    ],
)
def test_an_error_event_flat_or_nested(event: Any) -> None:
    parsed = _streamed(CREATED, event)
    assert (parsed.error.type, parsed.error.message, parsed.complete) == ("t", "no", False)
