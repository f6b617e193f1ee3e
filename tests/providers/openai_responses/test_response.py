"""Answers of others: cut, failed, odd or no answers at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Message, Text, ToolUse
from harness.core.values.plans import ApiError
from tests.providers.anthropic.strategies import json_values
from tests.providers.openai_responses.world import WIRE

CREATED = {"type": "response.created", "response": {"id": "r", "status": "in_progress"}}
MESSAGE: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant", "content": []}
ADDED = {"type": "response.output_item.added", "output_index": 0, "item": MESSAGE}
PART = {
    "type": "response.content_part.added",
    "output_index": 0,
    "content_index": 0,
    "part": {"type": "output_text", "text": "", "annotations": []},
}
DELTA = {
    "type": "response.output_text.delta",
    "output_index": 0,
    "content_index": 0,
    "delta": "half",
}
CALL = {
    "type": "response.output_item.added",
    "output_index": 1,
    "item": {"type": "function_call", "call_id": "c", "name": "n", "arguments": ""},
}
ARGUMENTS = {
    "type": "response.function_call_arguments.delta",
    "output_index": 1,
    "delta": '{"path": "/a',
}
BEGUN = (CREATED, ADDED, PART, DELTA, CALL, ARGUMENTS)
HALF = Message("assistant", (Text("half"), ToolUse("c", "n", '{"path": "/a')))


def stream(*events: Any, named: bool = True) -> Parsed:
    """The events as a stream, read."""
    frames = [
        (f"event: {e['type']}\n" if named and isinstance(e, dict) and "type" in e else "")
        + f"data: {e if isinstance(e, str) else json.dumps(e)}\n\n"
        for e in events
    ]
    return WIRE.parse("".join(frames).encode(), "text/event-stream")


def test_a_stream_that_ends_is_half_an_answer() -> None:
    assert stream(*BEGUN) == Parsed(HALF, None, {}, complete=False)
    assert stream(*BEGUN, named=False) == stream(*BEGUN)
    assert stream(CREATED) == Parsed(Message("assistant"), None, {}, complete=False)


def test_completed_incomplete_failed_and_two_kinds_of_errors_are_told_apart() -> None:
    output = [{**MESSAGE, "content": [{"type": "output_text", "text": "all"}]}]
    said = Message("assistant", (Text("all"),))
    done = {"id": "r", "output": output}
    completed = {"type": "response.completed", "response": {**done, "status": "completed"}}
    assert stream(*BEGUN, completed) == Parsed(said, "end_turn")
    details = {"reason": "max_output_tokens"}
    cut = {**done, "status": "incomplete", "incomplete_details": details}
    assert stream(*BEGUN, {"type": "response.incomplete", "response": cut}) == Parsed(
        said, "max_tokens"
    )
    failure = {"code": "server_error", "message": "oops"}
    failed = {**done, "status": "failed", "error": failure}
    error = ApiError(200, "server_error", "oops", code="server_error")
    assert stream(*BEGUN, {"type": "response.failed", "response": failed}) == Parsed(
        said, "failed", error=error
    )
    flat = {"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}
    error = ApiError(200, "rate_limit_exceeded", "slow", code="rate_limit_exceeded")
    assert stream(*BEGUN, flat) == Parsed(HALF, None, {}, complete=False, error=error)
    nested = {"type": "error", "error": {"type": "server_error", "code": None, "message": "no"}}
    error = ApiError(200, "server_error", "no")
    assert stream(*BEGUN, nested) == Parsed(HALF, None, {}, complete=False, error=error)


def test_an_error_after_the_end_makes_the_answer_no_whole_one() -> None:
    done = {"type": "response.completed", "response": {"status": "completed", "output": []}}
    back = stream(CREATED, done, {"type": "error", "message": "late"})
    assert (back.complete, back.stop) == (False, "end_turn")
    assert back.error == ApiError(200, "", "late")


def test_a_final_response_without_its_output_has_the_items_that_came() -> None:
    item = {**MESSAGE, "content": [{"type": "output_text", "text": "done"}]}
    events = (
        CREATED,
        ADDED,
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed", "output": None}},
    )
    assert stream(*events) == Parsed(Message("assistant", (Text("done"),)), "end_turn")


def test_nothing_counts_after_the_end_but_an_error() -> None:
    done = {"type": "response.completed", "response": {"status": "completed", "output": []}}
    again = {"type": "response.incomplete", "response": {"status": "incomplete", "output": []}}
    assert stream(CREATED, done, again, *BEGUN) == stream(CREATED, done)


@pytest.mark.parametrize("event", [{**PART, "output_index": 7}, {**DELTA, "output_index": 7}])
def test_what_is_said_of_no_item_is_lost(event: dict[str, Any]) -> None:
    assert stream(*BEGUN, event) == stream(*BEGUN)


@pytest.mark.parametrize("event", ["no json", "[1]", {"type": 3}, {"type": "made.up"}, {}])
def test_what_is_no_event_ends_nothing(event: Any) -> None:
    back = stream(*BEGUN, event)
    assert (back.message, back.complete) == (HALF, False)


@given(st.lists(json_values | st.sampled_from([*BEGUN]), max_size=6), json_values)
def test_no_stream_raises(events: list[Any], odd: Any) -> None:
    bent = [{**e, "output_index": odd} if isinstance(e, dict) else e for e in events]
    for several in (events, bent):
        assert not stream(*several).complete


JSON = {
    b"": Parsed(None, complete=False),
    b"<html>": Parsed(None, complete=False),
    b'"text"': Parsed(None),
    b"{}": Parsed(None),
    b'{"output": 3}': Parsed(None),
    b'{"status": "queued", "output": []}': Parsed(Message("assistant"), complete=False),
    b'{"status": "cancelled", "output": []}': Parsed(Message("assistant"), "cancelled"),
    b'{"status": "incomplete", "output": []}': Parsed(Message("assistant"), "incomplete"),
    b'{"error": {"message": "m", "type": "invalid_request_error", "code": "c"}}': Parsed(
        None, error=ApiError(400, "invalid_request_error", "m", code="c")
    ),
    b'{"error": "plain"}': Parsed(None, error=ApiError(0, "", "plain")),
    b'{"error": {"message": "m", "code": "insufficient_quota"}}': Parsed(
        None, error=ApiError(429, "insufficient_quota", "m", code="insufficient_quota")
    ),
}


@pytest.mark.parametrize("answer", JSON)
def test_bodies_that_are_no_stream(answer: bytes) -> None:
    assert WIRE.parse(answer, "application/json") == JSON[answer]


@given(json_values)
def test_no_json_raises(value: Any) -> None:
    for body in (value, {"output": value}, {"output": [value]}, {"error": value}):
        WIRE.parse(json.dumps(body).encode(), "application/json")
