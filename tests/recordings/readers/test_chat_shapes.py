"""Chats in the shapes that agent frameworks write: each call has its name and its arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.checks.loops import no_progress_stop
from harness.checks.request_form import role_alternation
from harness.core.values.messages import Thinking, ToolResult, ToolUse
from harness.recordings.recognition import read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript

PATH = {"path": "a"}


def row(role: str, **fields: Any) -> dict[str, Any]:
    """A message without content, except what the fields say."""
    return {"role": role, "content": None, **fields}


def _agentdojo() -> list[dict[str, Any]]:
    call = {"function": "read", "args": PATH, "id": "c1", "placeholder_args": None}
    text = [{"type": "text", "content": "go"}]
    error = "ValueError: no such file"
    return [
        row("user", content=text),
        row("assistant", tool_calls=[call]),
        row("tool", content="", tool_call_id="c1", tool_call=call, error=error),
    ]


def _inspect() -> list[dict[str, Any]]:
    call = {"id": "c1", "function": "read", "arguments": PATH, "view": {"title": "x"},
            "type": "function"}  # fmt: skip
    error = {"type": "file_not_found", "message": "ValueError: no such file"}
    return [
        {"id": "m1", "role": "user", "content": "go", "source": "input"},
        {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call]},
        row("tool", content="", tool_call_id="c1", function="read", error=error),
    ]


def _langchain(wrap: Any) -> list[Any]:
    used = {"name": "read", "args": PATH, "id": "c1", "type": "tool_call"}
    block = {"type": "tool_use", "id": "c1", "name": "read", "input": PATH}
    ai = {"content": [block], "tool_calls": [used], "invalid_tool_calls": []}
    failed = {"content": "ValueError: no such file", "tool_call_id": "c1", "status": "error"}
    return [wrap("human", {"content": "go"}), wrap("ai", ai), wrap("tool", failed)]


def _ai_sdk() -> list[dict[str, Any]]:
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": PATH}
    output = {"type": "error-text", "value": "ValueError: no such file"}
    result = {"type": "tool-result", "toolCallId": "c1", "toolName": "read", "output": output}
    return [
        row("user", content=[{"type": "text", "text": "go"}]),
        row("assistant", content=[{"type": "reasoning", "text": "hm"}, call]),
        row("tool", content=[result]),
    ]


def _ai_sdk_screen() -> list[dict[str, Any]]:
    failed = {"type": "tool-read", "toolCallId": "c1", "state": "output-error", "input": PATH,
              "errorText": "ValueError: no such file"}  # fmt: skip
    go = {"type": "text", "text": "go"}
    return [
        {"id": "m1", "role": "user", "parts": [go]},
        {"id": "m2", "role": "assistant", "parts": [{"type": "step-start"}, failed]},
    ]


def _semantic_conventions() -> list[dict[str, Any]]:
    call = {"type": "tool_call", "id": "c1", "name": "read", "arguments": json.dumps(PATH)}
    answer = {"type": "tool_call_response", "id": "c1", "response": "ValueError: no such file"}
    return [
        {"role": "user", "parts": [{"type": "text", "content": "go"}]},
        {"role": "assistant", "parts": [call], "finish_reason": "tool_call"},
        {"role": "tool", "parts": [answer]},
    ]


SHAPES: dict[str, list[Any]] = {
    "AgentDojo": _agentdojo(),
    "inspect_ai": _inspect(),
    "LangChain": _langchain(lambda kind, said: {"type": kind, **said}),
    "LangChain with roles": _langchain(lambda kind, said: {"role": kind, **said}),
    "LangChain messages_to_dict": _langchain(lambda kind, said: {"type": kind, "data": said}),
    "LangChain dumps": _langchain(
        lambda kind, said: {
            "lc": 1, "type": "constructor", "kwargs": said, "id": ["langchain_core", "messages",
            {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}[kind]],
        }
    ),
    "AI SDK": _ai_sdk(),
    "AI SDK, its screen": _ai_sdk_screen(),
    "GenAI semantic conventions": _semantic_conventions(),
}  # fmt: skip


def _read(messages: list[Any]) -> Transcript:
    (found,) = read(json.dumps({"messages": messages}).encode()).transcripts
    return found


@pytest.mark.parametrize("name", list(SHAPES))
def test_each_shape_says_what_is_called_and_what_failed(name: str) -> None:
    found = _read(SHAPES[name])
    asked, called, answered = found.messages
    assert (asked.role, asked.text) == ("user", "go")
    assert called.tool_uses == (ToolUse("c1", "read", PATH),)
    failed = name != "GenAI semantic conventions"
    assert answered.tool_results == (ToolResult("c1", "ValueError: no such file", failed),)
    assert found.wire == "openai-chat"
    counted = counts(found)
    assert (counted["alternation"], counted["late_results"], counted["orphan_results"]) == (0, 0, 0)


@pytest.mark.parametrize("name", ["AgentDojo", "inspect_ai", "LangChain", "AI SDK"])
def test_other_arguments_are_another_call_and_equal_ones_the_same(name: str) -> None:
    def story(paths: str) -> list[Any]:
        asked, called, answered = SHAPES[name]
        rows = [asked]
        for number, path in enumerate(paths):
            text = json.dumps([called, answered]).replace('"path": "a"', f'"path": "{path}"')
            rows += json.loads(text.replace('"c1"', f'"c{number}"'))
        return rows

    codes = [f.code for f in no_progress_stop(to_history(_read(story("abcdef"))))]
    assert "no_progress_stop.same_call" not in codes
    assert counts(_read(story("ababab")))["cycle2_runs"] == [["read, read", 6, 0]]
    assert counts(_read(story("aaab")))["same_call_runs"] == [["read", 3, 0]]


def test_a_thought_among_the_parts_is_one() -> None:
    assert _read(_ai_sdk()).messages[1].blocks[0] == Thinking("hm")


def test_the_screen_of_the_ai_sdk_is_a_message_a_step() -> None:
    def part(id_: str, **more: Any) -> dict[str, Any]:
        return {"type": "tool-ls", "toolCallId": id_, "input": {}, **more}

    done = {"state": "output-available", "output": {"n": 1}}
    turn = [
        {"type": "step-start"}, {"type": "text", "text": "look"}, part("1", **done),
        {"type": "dynamic-tool", "toolName": "cat", "toolCallId": "2", "input": PATH, **done},
        {"type": "text", "text": "", "state": "done"}, {"type": "step-start"},
        {"type": "text", "text": "two"}, part("3", state="input-available"),
        {"type": "text", "text": "", "state": "done"},
    ]  # fmt: skip
    rows = [{"role": "user", "parts": []}, {"role": "assistant", "parts": turn}]
    said = _read(rows).messages[1:]
    assert [message.role for message in said] == ["assistant", "tool", "assistant"]
    assert [use.name for use in said[0].tool_uses] == ["ls", "cat"]
    assert said[1].tool_results == (ToolResult("1", '{"n":1}'), ToolResult("2", '{"n":1}'))
    assert [use.id for use in said[2].tool_uses] == ["3"]


def test_older_screens_of_the_ai_sdk_have_their_calls_beside_the_text() -> None:
    call = {"toolCallId": "1", "toolName": "ls", "args": PATH, "state": "result", "result": "a"}
    part = {"type": "tool-invocation", "toolInvocation": call}
    for fields in ({"toolInvocations": [call]}, {"parts": [part]}):
        said = _read([row("user", content="x"), row("assistant", content="", **fields)]).messages
        assert said[1].tool_uses == (ToolUse("1", "ls", PATH),)
        assert said[2].tool_results == (ToolResult("1", "a"),)


def test_what_the_provider_ran_is_no_call_of_a_client() -> None:
    ran = {"type": "tool-call", "toolCallId": "1", "toolName": "web", "input": {},
           "providerExecuted": True}  # fmt: skip
    seen = {"type": "tool-result", "toolCallId": "1", "toolName": "web", "output": {}}
    run = {"type": "tool_use", "tool_type": "web_search", "id": "1", "name": "w", "arguments": "{}"}
    for content in ([ran, seen], [run]):
        found = counts(_read([row("user", content="x"), row("assistant", content=content)]))
        assert (found["tool_calls"], found["server_tool_calls"], found["tool_results"]) == (0, 1, 0)


def test_speakers_with_names_are_a_group_chat() -> None:
    said = [row("user", content="hi", name=name) for name in ("ann", "ben", "ann")]
    chat = _read([*said, row("assistant", content="hello", name="bot")])
    assert list(role_alternation(to_history(chat))) == []
    for message in said:
        del message["name"]
    chat = _read([*said, row("assistant", content="hello")])
    assert [f.code for f in role_alternation(to_history(chat))] == ["role_alternation.wire"] * 2


def test_blocks_of_anthropic_may_lack_their_ids() -> None:
    use = {"type": "tool_use", "name": "read", "input": PATH}
    result = {"type": "tool_result", "content": "a"}
    rows = [row("assistant", content=[use]), row("user", content=[result])]
    found = counts(_read([row("user", content="x"), *rows]))
    assert (found["tool_calls"], found["tool_results"], found["unanswered_calls"]) == (1, 1, 0)
    rows[0]["content"] = [{**use, "name": None}]
    assert read(json.dumps(rows).encode()).refused == {"a call has no name": 1}


def test_a_list_of_calls_may_be_a_text() -> None:
    call = {"id": "c1", "name": "read", "args": PATH}
    said = row("assistant", tool_calls=json.dumps([call]))
    found = _read([row("user", content="x"), said])
    assert found.messages[1].tool_uses == (ToolUse("c1", "read", PATH),)
    odd = [row("user", content="x"), row("assistant", tool_calls=["read", call])]
    assert len(read(json.dumps(odd).encode()).refusals) == 1


def test_an_error_is_the_text_of_a_result_whose_parts_say_nothing() -> None:
    asked, called, failed = _agentdojo()
    failed["content"] = [{"type": "text", "content": ""}]
    (result,) = _read([asked, called, failed]).messages[2].tool_results
    assert (result.text, result.is_error) == ("ValueError: no such file", True)


def test_tools_that_stand_among_the_messages_are_declared() -> None:
    schema = {"type": "object", "required": ["path"]}
    tool = {"type": "function", "function": {"name": "read", "parameters": schema}}
    rows = [*_agentdojo(), {"role": "tool", "content": tool}]
    found = _read(rows)
    assert (len(found.messages), [tool.name for tool in found.tools]) == (3, ["read"])
