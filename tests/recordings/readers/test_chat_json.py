"""Chats: lists of messages and what holds them, in the shape of the API they were sent to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import ToolResult, ToolUse
from harness.recordings.chat_messages import LISTS
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from tests.recordings.documents import anthropic_messages, openai_messages

CHAT_JSON = format_named("chat_json")

GEMINI = [
    {"role": "user", "parts": [{"text": "hi"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"a": 1}}}]},
]
CONVERSE = [
    {"role": "user", "content": [{"text": "hi"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "ls", "input": {}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "a"}]}}]},
]
RESPONSES = [
    {"role": "user", "content": "hi"},
    {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "a"},
]


def _read(value: Any) -> Any:
    data = json.dumps(value).encode()
    assert CHAT_JSON.recognises(data)
    return CHAT_JSON.read(data).transcripts


@pytest.mark.parametrize(
    ("messages", "wire"),
    [
        (openai_messages(), "openai-chat"),
        (anthropic_messages(), "anthropic"),
        (GEMINI, "gemini"),
        (CONVERSE, "bedrock-converse"),
        (RESPONSES, "openai-responses"),
    ],
)
@pytest.mark.parametrize("name", ["", *LISTS])
def test_a_list_is_told_by_its_blocks_wherever_it_is_held(
    messages: list[Any], wire: str, name: str
) -> None:
    (found,) = _read({name: messages} if name else messages)
    assert found.wire == wire
    counted = counts(found)
    assert (counted["tool_calls"], counted["tool_results"]) == (1, 1)
    assert counted["orphan_results"] == counted["late_results"] == counted["alternation"] == 0


def test_an_object_says_what_is_around_its_messages() -> None:
    schema = {"type": "object", "required": ["path"]}
    tools = [{"name": "ls", "input_schema": schema}]
    value = {"model": "m", "system": "s", "messages": anthropic_messages(), "tools": tools}
    (found,) = _read(value)
    assert (found.model, found.system, found.exchange) == ("m", "s", False)
    assert counts(found)["empty_input_required"] == 1


@pytest.mark.parametrize(
    ("messages", "response", "stop"),
    [
        (
            openai_messages()[:2],
            {"choices": [{"message": {"content": "two"}, "finish_reason": "stop"}], "model": "m"},
            "stop",
        ),
        (
            anthropic_messages()[:3],
            {"role": "assistant", "content": [{"type": "text", "text": "two"}], "type": "message",
             "model": "m", "stop_reason": "end_turn"},
            "end_turn",
        ),
        (
            RESPONSES,
            {"output": [{"type": "message", "role": "assistant",
                         "content": [{"type": "output_text", "text": "two"}]}],
             "model": "m", "status": "completed"},
            "completed",
        ),
    ],
)  # fmt: skip
def test_a_response_beside_the_messages_is_the_answer(
    messages: list[Any], response: Any, stop: str
) -> None:
    (found,) = _read({"messages": messages, "response": response})
    assert len(found.messages) == len(messages) + 1
    assert (found.messages[-1].role, found.messages[-1].text) == ("assistant", "two")
    assert found.stops == {len(messages): stop}
    assert (found.exchange, found.answered, found.model) == (True, True, "m")


@pytest.mark.parametrize("response", [None, {}, "two", {"choices": []}, {"error": "busy"}])
def test_a_response_that_says_nothing_is_none(response: Any) -> None:
    (found,) = _read({"messages": openai_messages(), "response": response})
    assert len(found.messages) == len(openai_messages())
    assert not found.exchange


def test_each_object_of_a_list_is_a_transcript() -> None:
    rows = [{"traj": openai_messages()}, {"traj": []}, {"traj": anthropic_messages()}, 3]
    data = json.dumps(rows).encode()
    recording = CHAT_JSON.read(data)
    assert [t.name for t in recording.transcripts] == ["item 1", "item 3"]
    assert [t.wire for t in recording.transcripts] == ["openai-chat", "anthropic"]
    assert [r.place for r in recording.refusals] == ["item 2", "item 4"]
    assert recording.refused == {"holds no list of messages": 2}


def test_a_head_may_stand_beside_the_list_of_the_runs() -> None:
    runs = [{"id": n, "messages": openai_messages()} for n in "ab"]
    found = _read({"info": {"git": "x"}, "tasks": [{"id": "a"}], "simulations": runs})
    assert [t.name for t in found] == ["simulations 1", "simulations 2"]


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize(
    "items", [RESPONSES, [RESPONSES[0], {"role": "assistant", "content": "a"}]]
)
def test_a_page_of_the_api_is_read_from_its_oldest_item(
    items: list[Any], newest_first: bool
) -> None:
    page = {"object": "list", "data": items[::-1] if newest_first else items, "has_more": False}
    (found,) = _read(page)
    assert found.messages[0].text == "hi"
    assert counts(found)["orphan_results"] == counts(found)["late_results"] == 0


def test_a_list_of_chats_with_one_chat_is_that_chat() -> None:
    assert [t.name for t in _read({"messages": [openai_messages()]})] == ["messages"]
    assert [t.name for t in _read([openai_messages()] * 2)] == ["item 1", "item 2"]


def test_a_result_may_have_the_id_of_its_call_and_any_other_id() -> None:
    messages = openai_messages()
    messages[3] = {"role": "tool", "id": "c1", "content": "a", "error": False}
    (found,) = _read(messages)
    assert counts(found)["orphan_results"] == counts(found)["unanswered_calls"] == 0
    messages[3]["id"] = "message 7"
    (found,) = _read(messages)
    assert found.messages[3].tool_results[0].id == "c1", "the only call that waits"
    del messages[2]["tool_calls"][0]["id"], messages[3]["id"]
    (found,) = _read(messages)
    assert counts(found)["orphan_results"] == counts(found)["unanswered_calls"] == 0


def test_a_failing_tool_may_say_so_in_another_field() -> None:
    failed = {"role": "tool", "tool_call_id": "c1", "content": "", "error": "no such folder"}
    messages = [*openai_messages()[:3], failed]
    (found,) = _read(messages)
    assert found.messages[-1].tool_results == (ToolResult("c1", "no such folder", True),)


def test_arguments_that_are_no_json_stay_the_text_that_came() -> None:
    messages = openai_messages()[:3]
    messages[2]["tool_calls"][0]["function"]["arguments"] = '{"path": "a'
    (found,) = _read(messages)
    assert found.messages[2].tool_uses == (ToolUse("c1", "ls", '{"path": "a'),)


@pytest.mark.parametrize(
    "value", [{}, [], 3, "role", [[]], [{"role": "user"}], {"messages": [{"content": "x"}]}]
)
def test_what_holds_no_messages_is_refused(value: Any) -> None:
    data = json.dumps(value).encode()
    assert not CHAT_JSON.recognises(data)
    with pytest.raises(InputError, match="no list of messages, nor an object with messages, traj"):
        CHAT_JSON.read(data)
