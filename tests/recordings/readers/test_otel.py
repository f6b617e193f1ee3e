"""Traces: the tool spans of every convention and every exporter are the same calls and results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import ToolResult, ToolUse
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Refusal, Transcript

OTEL = format_named("otel")

GEN_AI = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "ls",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.arguments": '{"p": 1}',
    "gen_ai.tool.call.result": "a.py",
}
CONVENTIONS: dict[str, dict[str, Any]] = {
    "gen_ai": GEN_AI,
    "openinference": {
        "openinference.span.kind": "TOOL",
        "tool.name": "ls",
        "tool_call.id": "c1",
        "input.value": '{"p": 1}',
        "input.mime_type": "application/json",
        "output.value": "a.py",
    },
    "traceloop": {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "ls",
        "tool.id": "c1",
        "traceloop.entity.input": '{"p": 1}',
        "traceloop.entity.output": "a.py",
    },
    "ai_sdk": {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "ls",
        "ai.toolCall.id": "c1",
        "ai.toolCall.args": '{"p": 1}',
        "ai.toolCall.result": "a.py",
    },
    "pydantic_ai": {
        "gen_ai.tool.name": "ls",
        "gen_ai.tool.call.id": "c1",
        "tool_arguments": '{"p": 1}',
        "tool_response": "a.py",
    },
}


def _span(attributes: Any, start: Any = 1, end: Any = 2, **more: Any) -> dict[str, Any]:
    return {
        "name": "execute_tool ls",
        "context": {"trace_id": "t1", "span_id": f"s{start}"},
        "start_time": start,
        "end_time": end,
        "attributes": attributes,
        **more,
    }


def _otlp(attributes: dict[str, Any], start: str = "1", **more: Any) -> dict[str, Any]:
    typed = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return {
        "traceId": "t1", "spanId": f"s{start}", "name": "execute_tool ls",
        "startTimeUnixNano": start, "endTimeUnixNano": "9", "attributes": typed, **more,
    }  # fmt: skip


def _resource(*spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


DUMPS = {
    "spans": dump({"spans": [_span(GEN_AI)]}),
    "list": dump([_span(GEN_AI)]),
    "one": dump(_span(GEN_AI)),
    "otlp": dump(_resource(_otlp(GEN_AI))),
    "lines": dump(_span(GEN_AI)) + b"\n" + dump(_span(GEN_AI, 5, 6)) + b"\n",
    "otlp_lines": dump(_resource(_otlp(GEN_AI))) + b"\n" + dump(_resource(_otlp(GEN_AI, "5"))),
}


def _calls(found: Transcript) -> list[tuple[ToolUse, ...]]:
    return [message.tool_uses for message in found.messages if message.tool_uses]


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_says_the_same(name: str) -> None:
    (found,) = OTEL.read(dump({"spans": [_span(CONVENTIONS[name])]})).transcripts
    use, result = found.messages
    assert use.blocks == (ToolUse("c1", "ls", {"p": 1}),)
    assert result.blocks == (ToolResult("c1", "a.py"),)
    assert found.name == "trace t1"


@pytest.mark.parametrize("name", DUMPS)
def test_every_exporter_is_told_and_read(name: str) -> None:
    assert OTEL.recognises(DUMPS[name])
    (found,) = OTEL.read(DUMPS[name]).transcripts
    count = 2 if "lines" in name else 1
    assert _calls(found) == [(ToolUse("c1", "ls", {"p": 1}),)] * count


@pytest.mark.parametrize(
    "times",
    [
        [1758026600206847000, 1758026600206848000],
        ["1758026600206847000", "1758026600206848000"],
        ["2025-09-16T12:43:20.206847Z", "2025-09-16T14:43:20.206848+02:00"],
        ["2025-09-16T12:43:20.206847", "2025-09-16T12:43:20.206848Z"],
        ["2025-09-16T12:43:20.206847Z", "2025-09-16T12:43:20.206848"],
        [[1758026600, 206847000], [1758026600, 206848000]],
        [None, "soon"],
    ],
)
def test_calls_stand_in_the_order_in_which_they_began(times: list[Any]) -> None:
    early, late = ({"gen_ai.tool.name": name} for name in ("early", "late"))
    given = [_span(early, times[0]), _span(late, times[1])]
    known = isinstance(times[0], (int, str, list))
    (found,) = OTEL.read(dump(given[::-1] if known else given)).transcripts
    assert [uses[0].name for uses in _calls(found)] == ["early", "late"]


def test_typed_values_of_otlp_lose_their_types() -> None:
    values = [
        {"key": "gen_ai.tool.name", "value": {"stringValue": "f"}},
        {"key": "gen_ai.tool.call.arguments", "value": {"kvlistValue": {"values": [
            {"key": "n", "value": {"intValue": "-7"}},
            {"key": "x", "value": {"doubleValue": 0.5}},
            {"key": "l", "value": {"arrayValue": {"values": [{"boolValue": True}]}}},
        ]}}},
    ]  # fmt: skip
    span = {**_otlp({}), "attributes": values}
    (found,) = OTEL.read(dump(_resource(span))).transcripts
    assert _calls(found)[0][0].input == {"n": -7, "x": 0.5, "l": [True]}


@pytest.mark.parametrize(
    "more",
    [
        {"status": {"status_code": "ERROR", "description": "no such file"}},
        {"status": {"status_code": "StatusCode.ERROR", "description": "no such file"}},
        {"status": {"code": 2, "message": "no such file"}},
        {"status": {"code": "STATUS_CODE_ERROR", "message": "no such file"}},
        {"status": {"code": 2}, "events": [
            {"name": "exception", "attributes": {"exception.message": "no such file"}}]},
    ],
)  # fmt: skip
def test_a_failed_span_is_a_failed_result(more: dict[str, Any]) -> None:
    (found,) = OTEL.read(dump([_span({"gen_ai.tool.name": "ls"}, **more)])).transcripts
    (result,) = found.messages[1].tool_results
    assert (result.is_error, result.text) == (True, "no such file")


def test_a_call_without_an_id_has_that_of_its_span_and_one_that_runs_has_no_result() -> None:
    bare = {"gen_ai.operation.name": "execute_tool"}
    given = [_span(bare, 1), _span(bare, 2), _span(bare, 3, None)]
    (found,) = OTEL.read(dump(given)).transcripts
    assert [uses[0].id for uses in _calls(found)] == ["s1", "s2", "s3"]
    assert [uses[0].name for uses in _calls(found)] == ["ls"] * 3
    counted = counts(found)
    assert (counted["tool_calls"], counted["tool_results"], counted["pending_calls"]) == (3, 2, 1)
    assert counted["messages"] == counted["alternation"] == 0, "roles are not counted"
    to_history(found)


def test_traces_are_apart_and_one_without_tools_is_refused() -> None:
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    other = {"trace_id": 572318454595034, "span_id": 7}
    recording = OTEL.read(
        dump([_span(GEN_AI), _span(model), _span(model, context=other, name="chat m")])
    )
    assert [(t.name, t.model) for t in recording.transcripts] == [("trace t1", "m")]
    assert recording.refusals == (Refusal(f"trace {572318454595034:032x}", "no tool spans"),)


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"spans": []}', b'{"spans": [3]}', b"[[[]]]"])
def test_a_file_without_spans_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="holds no span"):
        OTEL.read(data)


def test_nesting_has_a_bound() -> None:
    with pytest.raises(InputError, match="holds no span"):
        OTEL.read(b"[" * 100 + dump(_span(GEN_AI)) + b"]" * 100)


def _agent(number: int, asked: Any, told: Any, start: int, end: int, **more: Any) -> dict[str, Any]:
    """The span of an agent, with what it got and what it said."""
    said = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.input.messages": asked,
        "gen_ai.output.messages": told,
    }
    context = {"trace_id": "t1", "span_id": f"agent{number}"}
    named = {"name": "invoke_agent a", "context": context, "attributes": said}
    return {**named, "start_time": start, "end_time": end, **more}


def _words(role: str, *texts: str) -> str:
    rows = [{"role": role, "parts": [{"type": "text", "content": text}]} for text in texts]
    return json.dumps(rows)


def _spoken(*spans: dict[str, Any]) -> list[tuple[str, str]]:
    (found,) = OTEL.read(json.dumps(list(spans)).encode()).transcripts
    return [(m.role, m.text or "".join(u.name for u in m.tool_uses)) for m in found.messages]


def test_what_the_user_said_and_was_told_stands_around_the_calls() -> None:
    first = _agent(1, _words("user", "One."), _words("assistant", "Done."), 1, 4)
    later = json.loads(_words("user", "One.")) + json.loads(_words("assistant", "Done."))
    second = _agent(2, json.dumps([*later, *json.loads(_words("user", "Two."))]), "[]", 5, 9)
    assert _spoken(second, _span(GEN_AI, 2, 3), first, _span(GEN_AI, 6, 7)) == [
        ("user", "One."), ("assistant", "ls"), ("tool", ""), ("assistant", "Done."),
        ("user", "Two."), ("assistant", "ls"), ("tool", ""),
    ]  # fmt: skip


def test_an_agent_within_another_one_does_not_speak_with_the_user() -> None:
    outer = _agent(1, _words("user", "One."), _words("assistant", "Done."), 1, 9)
    call = {**_span(GEN_AI, 2, 8), "parent_id": "agent1"}
    inner = _agent(2, _words("user", "Part."), _words("assistant", "Ready."), 3, 7, parent_id="s2")
    assert [text for _, text in _spoken(outer, call, inner)] == ["One.", "ls", "", "Done."]


@pytest.mark.parametrize("said", ["cut off…", '{"role":"user"}', 7, None, _words("tool", "x")])
def test_messages_in_another_shape_are_left_out(said: Any) -> None:
    assert _spoken(_agent(1, said, said, 1, 9), _span(GEN_AI, 2, 3)) == [
        ("assistant", "ls"), ("tool", ""),
    ]  # fmt: skip


def test_a_circle_of_parents_ends() -> None:
    one = _agent(1, _words("user", "One."), "", 1, 9, parent_id="s2")
    call = {**_span(GEN_AI, 2, 3), "parent_id": "agent1"}
    assert _spoken(one, call) == [("assistant", "ls"), ("tool", "")]


def test_the_end_of_an_unanswered_call_of_an_export_is_no_answer() -> None:
    cut = {**GEN_AI, "harness.unanswered": True}
    del cut["gen_ai.tool.call.result"]
    (found,) = OTEL.read(json.dumps([_span(cut)]).encode()).transcripts
    assert [len(m.tool_results) for m in found.messages] == [0]
