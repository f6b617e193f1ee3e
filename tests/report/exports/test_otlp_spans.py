"""OTLP/JSON: our own reader finds the calls, results and turns again, and the trees hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from harness.core.history.exchanges import Execution
from harness.core.history.history import History
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import Json, ToolResult, ToolUse, user
from harness.core.values.plans import Wait
from harness.recordings.recognition import format_named
from harness.recordings.transcripts import Recording, Transcript
from harness.report.exports.call_spans import MESSAGES_MOST
from harness.report.exports.exported_run import SECOND, ExportedRun, numbered
from harness.report.exports.otlp_spans import otlp
from tests.report.exports.made_runs import CATALOGUE, RunMaker, failing_run, histories, played

OTEL = format_named("otel")


def _read(data: bytes) -> Recording:
    found = OTEL.attempt(data)
    assert found is not None
    return found


def _by_session(run: ExportedRun) -> dict[str, Transcript]:
    names = {f"trace {run.trace_id(session)}": session for session in run.sessions}
    return {names[found.name]: found for found in _read(otlp([run])).transcripts}


def _calls(transcript: Transcript) -> list[ToolUse]:
    return [use for message in transcript.messages for use in message.tool_uses]


def _results(transcript: Transcript) -> list[ToolResult]:
    return [result for message in transcript.messages for result in message.tool_results]


def _same_text(found: str, execution: Execution) -> bool:
    """Whether a result says what the tool did; JSON may have its keys in another order."""
    said = execution.text
    return found == said or (said.startswith("{") and json.loads(found) == json.loads(said))


def _check_calls_and_results(run: ExportedRun) -> int:
    found, seen = _by_session(run), 0
    for session in run.sessions:
        done = [e for e in run.history.trace.executions if e.called.session == session]
        if not done:
            assert session not in found
            continue
        calls, answered = _calls(found[session]), [e for e in done if e.answered]
        said = [(e.request.id, e.request.name, e.request.input) for e in done]
        assert [(use.id, use.name, use.input) for use in calls] == said
        told = _results(found[session])
        assert [result.id for result in told] == [e.request.id for e in answered]
        assert [result.is_error for result in told] == [e.failed for e in answered]
        pairs = zip(told, answered, strict=True)
        assert all(_same_text(result.text, execution) for result, execution in pairs)
        seen += len(done)
    return seen


@given(histories())
def test_the_same_calls_results_and_turns_come_back(run: ExportedRun) -> None:
    _check_calls_and_results(run)
    trace = run.history.trace
    for session, transcript in _by_session(run).items():
        own = [turn for (name, _), turn in trace.turns.items() if name == session]
        asked = [m.text for m in transcript.messages if m.role == "user"]
        assert asked == [turn.text for turn in own if turn.text]
        told = [m.text for m in transcript.messages if m.role == "assistant" and not m.tool_uses]
        assert told == [s.request.text for turn in own for s in turn.endings if s.request.text]


@pytest.mark.parametrize("name", CATALOGUE)
def test_runs_of_the_catalogue_come_back(name: str) -> None:
    run = played(name)
    assert _check_calls_and_results(run) == len(run.history.trace.executions)
    _check_trees(otlp([run]))


def _spans(data: bytes) -> list[dict[str, Any]]:
    document = json.loads(data)
    scopes = [scope for held in document["resourceSpans"] for scope in held["scopeSpans"]]
    return [span for scope in scopes for span in scope["spans"]]


def _said(span: dict[str, Any]) -> dict[str, Json]:
    return {a["key"]: next(iter(a["value"].values()), None) for a in span["attributes"]}


def _check_trees(data: bytes) -> None:
    """Each id stands once, and a span lies within the one above it."""
    spans = _spans(data)
    known = {(span["traceId"], span["spanId"]): span for span in spans}
    assert len(known) == len(spans)
    for span in spans:
        begin, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        assert 0 < begin <= end
        if above := span.get("parentSpanId"):
            around = known[span["traceId"], above]
            assert int(around["startTimeUnixNano"]) <= begin
            assert end <= int(around["endTimeUnixNano"])
        for link in span.get("links", []):
            assert (link["traceId"], link["spanId"]) in known


@given(histories())
def test_the_spans_are_trees_and_two_exports_are_equal(run: ExportedRun) -> None:
    data = otlp([run])
    _check_trees(data)
    (again,) = numbered([(run.history, run.verdict)])
    assert otlp([again]) == data


def test_a_run_that_is_exported_twice_is_two_runs() -> None:
    run = failing_run()
    twice = list(numbered([(run.history, run.verdict)] * 2))
    _check_trees(otlp(twice))
    assert len(_read(otlp(twice)).transcripts) == 2


def test_a_model_call_says_what_was_asked_and_answered() -> None:
    first, *_ = (_said(s) for s in _spans(otlp([failing_run()])) if s["name"].startswith("chat"))
    assert first["gen_ai.provider.name"] == "anthropic"
    assert first["gen_ai.usage.input_tokens"] == "11"
    assert json.loads(first["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "Read it, please."}]}
    ]
    (answer,) = json.loads(first["gen_ai.output.messages"])
    (call,) = answer["parts"]
    assert answer["finish_reason"] == "tool_call"
    assert (call["type"], call["name"]) == ("tool_call", "read")
    assert call["arguments"] == {"path": "a.txt"}


def test_the_wait_for_the_user_is_no_part_of_the_turn_that_it_ends() -> None:
    made = RunMaker()
    value = {"id": "m1", "session": "main", "text": "Go."}
    waits = (Wait(16_000),)
    made.history.answered("main/inbox#1", "inbox", 0, "main", 1, steps=waits, value=value)
    made.at_ms = 16_000
    made.tells("main", 1, "Done.")
    run, turn = _spans(otlp([made.ended()]))
    assert int(turn["startTimeUnixNano"]) - int(run["startTimeUnixNano"]) >= 16 * SECOND


def test_a_finding_stands_at_the_call_that_begins_to_prove_it() -> None:
    spans = _spans(otlp([failing_run()]))
    events = [(event, span["name"]) for span in spans for event in span["events"]]
    findings = [(e, name) for e, name in events if e["name"] == "gen_ai.evaluation.result"]
    told = {_said(event)["gen_ai.evaluation.name"]: name for event, name in findings}
    assert told == {
        "no_progress_stop.same_failure": "execute_tool read",
        "run.unplayed": "run made/variant",
    }


def test_an_unanswered_call_has_no_result_and_a_tool_of_the_agent_has_one() -> None:
    made = RunMaker()
    made.comes("main", 1, "Go.")
    own, cut = ToolUse("t1", "own", {}), ToolUse("t2", "cut", {})
    made.asks("main", 1, own)
    made.returns("main", own, "done by the agent")
    made.asks("main", 1, cut)
    made.runs("main", 1, cut, None)
    run = made.ended()
    (found,) = _read(otlp([run])).transcripts
    assert [use.id for use in _calls(found)] == ["t1", "t2"]
    assert [(r.id, r.text) for r in _results(found)] == [("t1", "done by the agent")]


def test_a_sub_agent_is_a_trace_with_a_link_to_the_turn_that_it_works_for() -> None:
    made = RunMaker()
    made.comes("main", 1, "Go.")
    made.asks("main", 1, say="I ask another.")
    request = ModelRequest("claude-sonnet-5", (made.history.note(user("Look.")),))
    made.history.called(
        key="child/model#1", seam="model", request=request, session="child", parent="main"
    )
    made.tells("main", 1, "Done.")
    data = otlp([made.ended()])
    _check_trees(data)
    (link,) = [link for span in _spans(data) for link in span.get("links", [])]
    (turn,) = [s for s in _spans(data) if s["spanId"] == link["spanId"]]
    assert _said(turn)["harness.turn"] == "1"


def test_a_long_request_keeps_its_newest_messages_and_counts_the_others() -> None:
    made = RunMaker()
    for turn in range(1, MESSAGES_MOST + 10):
        made.comes("main", turn, f"word {turn}")
    made.asks("main", turn, say="Yes.")
    (span,) = (_said(s) for s in _spans(otlp([made.ended()])) if s["name"].startswith("chat"))
    kept = json.loads(span["gen_ai.input.messages"])
    assert kept[-1]["parts"][0]["content"] == f"word {turn}"
    assert (len(kept), span["harness.messages_left_out"]) == (MESSAGES_MOST, "9")


SECRET = "sk-ant-api03-" + "Zx81kQpw7LmN2vBt" * 3


def _secret_runs() -> Iterator[ExportedRun]:
    for arguments in ({"key": SECRET}, {"password": "hunter2-Kestrel-99"}):
        made = RunMaker()
        made.comes("main", 1, f"Use {SECRET}.")
        use = ToolUse("t1", "login", arguments)
        made.asks("main", 1, use)
        made.runs("main", 1, use, f"welcome, {SECRET}")
        yield made.ended()


def test_secrets_are_masked_in_arguments_too() -> None:
    for run in _secret_runs():
        data = otlp([run])
        assert SECRET.encode() not in data
        assert b"hunter2" not in data
        _read(data)


def test_a_history_without_its_start_is_exported_too() -> None:
    whole = failing_run()
    cut = History()
    for event in whole.history.events[1:]:
        cut.take(event)
    (run,) = numbered([(cut, whole.verdict)])
    _check_trees(otlp([run]))
    assert run.name == "run"
