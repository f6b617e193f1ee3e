"""Exports of langfuse: generations are exchanges, tools alone their own transcript."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import ToolResult, ToolUse
from harness.core.values.plans import ApiError
from harness.recordings.recognition import format_of, read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcripts import Recording
from tests.recordings.documents import anthropic_messages, langfuse_rows, openai_messages


def row(kind: str, second: int, **more: Any) -> dict[str, Any]:
    """An observation as the API gives it."""
    start = f"2026-01-01T00:00:{second:02}Z"
    return {
        "id": f"o{second}", "traceId": "t1", "type": kind, "name": "chat", "startTime": start,
        "parentObservationId": None, "level": "DEFAULT", "statusMessage": None, "model": "m",
        "input": None, "output": None, **more,
    }  # fmt: skip


def export(*rows: Any, **trace: Any) -> bytes:
    """What the UI saves of a trace."""
    held = {"id": "t1", "name": "list", "timestamp": "x", "input": None, "output": None, **trace}
    return json.dumps({"trace": held, "observations": list(rows)}).encode()


def _one(*rows: Any) -> Any:
    (found,) = read(export(*rows)).transcripts
    return found


def _rows_in_each_way() -> list[bytes]:
    rows, trace = langfuse_rows(), {"id": "t1", "name": "list", "input": None, "output": None}
    snake = [
        {"".join(f"_{c.lower()}" if c.isupper() else c for c in k): v for k, v in one.items()}
        for one in rows
    ]
    texts = [{**one, "input": json.dumps(one["input"])} for one in rows]
    return [
        export(*rows), export(*snake), export(*texts), json.dumps(rows).encode(),
        json.dumps({**trace, "observations": rows}).encode(),
        json.dumps([{**trace, "observations": rows}]).encode(),
        json.dumps({"data": rows, "meta": {"page": 1}}).encode(),
        b"\n".join(json.dumps(one).encode() for one in rows),
    ]  # fmt: skip


@pytest.mark.parametrize("data", _rows_in_each_way())
def test_a_generation_is_an_exchange_however_it_was_exported(data: bytes) -> None:
    recording = read(data)
    assert recording.format == format_of(data) in ("langfuse", "langfuse_lines")
    (found,) = recording.transcripts
    assert (found.exchange, found.answered, found.model, found.wire) == (
        True,
        True,
        "m",
        "openai-chat",
    )
    assert found.name.endswith("t1, o1")
    counted = counts(found)
    assert (counted["messages"], counted["tool_calls"], counted["orphan_results"]) == (4, 1, 0)


_USE = {"toolCallId": "c1", "toolName": "ls", "input": "{}"}
_PART = {"type": "tool_call", "id": "c1", "name": "ls", "arguments": {}}
_CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
_ITEM = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
_BLOCK = {"type": "tool_use", "id": "c1", "name": "ls", "input": {}}
_OUTPUTS: dict[str, Any] = {
    "the AI SDK": [_USE],
    "a message of parts": [{"role": "assistant", "parts": [_PART], "finish_reason": "tool_call"}],
    "a completion": {"choices": [{"message": {"tool_calls": [_CALL]}, "finish_reason": "x"}]},
    "a message": {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    "a message that is held": {"index": 0, "message": {"role": "assistant", "tool_calls": [_CALL]}},
    "a response": {"object": "response", "status": "completed", "output": [_ITEM]},
    "blocks": {"role": "assistant", "content": [_BLOCK]},
    "LangChain": {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [_CALL]}},
    "calls as a text": [{"role": "assistant", "content": json.dumps([_CALL])}],
    "a candidate": {
        "content": {"role": "model", "parts": [{"functionCall": {"name": "ls", "id": "c1"}}]}
    },
}


@pytest.mark.parametrize("output", list(_OUTPUTS.values()), ids=list(_OUTPUTS))
@pytest.mark.parametrize("as_text", [False, True])
def test_an_output_says_what_was_called_in_many_ways(output: Any, as_text: bool) -> None:
    given = [{"role": "user", "content": "go"}]
    put = json.dumps if as_text else lambda value: value
    found = _one(row("GENERATION", 1, input=put(given), output=put(output)))
    (use,) = found.messages[-1].tool_uses
    assert (use.id, use.name, use.input or {}) == ("c1", "ls", {})
    assert (found.answered, len(found.messages)) == (True, 2)


def test_of_generations_that_hold_each_other_the_inner_one_counts() -> None:
    given, said = [{"role": "user", "content": "go"}], "done"
    outer = row("GENERATION", 1, input=given, output=said)
    span = row("SPAN", 2, parentObservationId="o1")
    inner = row("GENERATION", 3, input=given, output=said, parentObservationId="o2")
    assert _one(outer, span, inner).name == "list t1, o3"
    unread = {**inner, "input": "user: go"}
    recording = read(export(outer, span, unread))
    assert [found.name for found in recording.transcripts] == ["list t1, o1"]
    assert [refusal.place for refusal in recording.refusals] == ["list t1, o3"]


def test_tools_stand_alone_where_no_exchange_shows_their_calls() -> None:
    tools = [
        row("TOOL", 2, name="execute_tool ls", input="{}", output="a"),
        row("TOOL", 3, name="cat", input={"p": 1}, level="ERROR", statusMessage="no such file"),
    ]
    asked = row("GENERATION", 1, input="list the files", output="x")
    recording = read(export(*tools[::-1], asked))
    (found,) = recording.transcripts
    assert (found.name, found.roles, counts(found)["messages"]) == ("list t1, tools", False, 0)
    uses = [use for message in found.messages for use in message.tool_uses]
    assert uses == [ToolUse("run_1", "ls", {}), ToolUse("run_2", "cat", {"p": 1})]
    assert found.messages[3].tool_results == (ToolResult("run_2", "no such file", True),)
    assert recording.refused == {"the input of a generation is not a list of messages": 1}


def test_results_with_the_name_of_their_tool_as_role_answer_its_call() -> None:
    rows = openai_messages()
    rows[3] = {"role": "ls", "content": "a.txt", "additional_kwargs": {}}
    found = _one(row("GENERATION", 1, input=rows, output="two"))
    assert found.messages[3].tool_results == (ToolResult("c1", "a.txt"),)


def test_a_request_that_begins_with_results_continues_another() -> None:
    result = {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c1", "response": "a"}],
    }
    found = _one(row("GENERATION", 1, input=[result], output="done"))
    assert (found.stateful, counts(found)["orphan_results"]) == (True, 0)


def test_a_failed_generation_is_an_error_and_one_without_output_a_log() -> None:
    given = [{"role": "user", "content": "go"}]
    failed = _one(row("GENERATION", 1, input=given, level="ERROR", statusMessage="429"))
    assert (failed.exchange, failed.answered) == (True, False)
    assert failed.error == ApiError(0, "", "429")
    assert _one(row("GENERATION", 1, input=given)).exchange is False


def _trace(**said: Any) -> Recording:
    about = {"id": "t1", "timestamp": "x", "bookmarked": False, "input": None, "output": None}
    return read(json.dumps([{**about, **said}]).encode(), format="langfuse")


def test_a_trace_without_observations_says_what_it_can() -> None:
    given = {"messages": anthropic_messages()[:1]}
    (whole,) = _trace(input=given, output={"messages": anthropic_messages()}).transcripts
    assert (len(whole.messages), whole.wire) == (4, "anthropic")
    (asked,) = _trace(input=given, output="two").transcripts
    assert [message.role for message in asked.messages] == ["user", "assistant"]
    reason = "a trace without its observations, which an export has beside it"
    assert _trace(input="go", output="two").refused == {reason: 1}


def test_traces_of_a_file_are_apart_and_a_row_that_comes_twice_counts_once() -> None:
    rows = [*langfuse_rows(), *({**one, "traceId": "t2"} for one in langfuse_rows())]
    names = [found.name for found in read(json.dumps(rows * 2).encode()).transcripts]
    assert names == ["t1, o1", "t2, o1"]


def test_a_trace_of_spans_alone_is_refused_and_no_trace_is_no_export() -> None:
    assert read(export(row("SPAN", 1))).refused == {"a trace without a generation or a tool": 1}
    with pytest.raises(InputError, match="no observation of a trace"):
        read(b'[{"input": 1, "output": 2}]', format="langfuse")
    with pytest.raises(InputError, match="format not recognised"):
        read(json.dumps([row("span", 1)]).encode())
