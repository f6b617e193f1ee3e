"""Answers read back: whole, cut, bent, and in any framing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Json, Text, Thinking, ToolUse, assistant
from harness.core.values.plans import ApiError, Reply
from tests.providers.openai_chat import strategies as some
from tests.providers.openai_chat.sdk import WIRE, written
from tests.providers.sends import content_type, joined

SSE = "text/event-stream"


def parse(*chunks: Json, done: bool = True) -> Parsed:
    """What a stream of these chunks says."""
    frames = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return WIRE.parse("".join((*frames, "data: [DONE]\n\n" if done else "")).encode(), SSE)


def chunk(delta: Json = None, reason: str | None = None, **more: Json) -> Json:
    """A chunk with one choice."""
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": reason}], **more}


def call(index: int, arguments: str, **more: Json) -> Json:
    """A chunk with a fragment of a call."""
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}, **more}]})


def named(index: int, id_: str | None, name: str, arguments: str = "") -> Json:
    """A chunk with the first fragment of a call."""
    function = {"name": name, "arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": id_, "function": function}]})


NEWLINES = ("\n", "\r\n", "\r")
FRAMINGS = (b"", b": keep-alive\n\n", b"\n", b"event: message\n", b"id: 7\n")


@given(some.replies(), st.sampled_from(NEWLINES), st.sampled_from(FRAMINGS))
def test_any_framing_says_the_same(reply: Reply, newline: str, before: bytes) -> None:
    sends = written(reply, stream=True)
    body = b"".join(before + send.data for send in sends).replace(b"\n", newline.encode())
    assert WIRE.parse(body, SSE) == WIRE.parse(joined(sends), SSE)
    assert WIRE.parse(body, "") == WIRE.parse(joined(sends), SSE)


@given(some.replies(), st.integers(0, 3000))
def test_a_stream_that_is_cut_is_never_complete_too_early(reply: Reply, size: int) -> None:
    body = joined(written(reply, stream=True))
    cut = body[:size]
    parsed = WIRE.parse(cut, SSE)
    ends = [b'"finish_reason":"' in line for line in cut.split(b"\n\n")[:-1]]
    whole_lines = any(ends) or b"[DONE]" in cut or cut.endswith(b"}")
    assert not parsed.complete or whole_lines


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode), st.sampled_from(["", SSE]))
def test_nothing_raises(body: bytes, kind: str) -> None:
    assert isinstance(WIRE.parse(body, kind), Parsed)


@given(some.json_values, st.booleans())
def test_no_value_raises(value: Json, stream: bool) -> None:
    for body in (value, {"choices": value}, {"choices": [value]}, chunk(value), {"error": value}):
        text = json.dumps(body)
        found = WIRE.parse((f"data: {text}\n\n" if stream else text).encode(), "")
        assert isinstance(found, Parsed)


def test_the_pieces_of_calls_are_told_apart_by_index() -> None:
    parsed = parse(
        named(0, "a", "f"),
        named(1, "b", "g"),
        call(1, '{"x"'),
        call(0, "{}"),
        call(1, ":1}"),
        chunk(reason="tool_calls"),
    )
    assert parsed.message == assistant(ToolUse("a", "f", {}), ToolUse("b", "g", {"x": 1}))
    assert (parsed.stop, parsed.complete) == ("tool_use", True)


def test_a_new_id_at_the_same_index_is_another_call() -> None:
    parsed = parse(named(0, "a", "f", "{}"), named(0, "b", "g", "{}"), chunk(reason="tool_calls"))
    assert parsed.message == assistant(ToolUse("a", "f", {}), ToolUse("b", "g", {}))


def test_an_id_may_come_late_or_each_time() -> None:
    late = parse(named(0, None, "f", "{}"), call(0, "", id="a"))
    assert late.message == assistant(ToolUse("a", "f", {}))
    each = parse(named(0, "a", "f", "{"), call(0, "}", id="a"))
    assert each.message == late.message


def test_a_call_is_one_whatever_a_gateway_leaves_out() -> None:
    bare = parse(chunk({"tool_calls": [{"index": 0, "function": {"name": "f"}}]}))
    assert bare.message == assistant(ToolUse("", "f", ""))
    given = {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}
    body = {"choices": [{"index": 0, "message": given, "finish_reason": "stop"}]}
    assert WIRE.parse(json.dumps(body).encode(), "").message == assistant(
        ToolUse("a", "f", {"x": 1})
    )


def test_arguments_that_were_cut_stay_the_text_that_came() -> None:
    parsed = parse(named(0, "a", "f"), call(0, '{"path": "/tm'), done=False)
    assert parsed.message == assistant(ToolUse("a", "f", '{"path": "/tm'))
    assert not parsed.complete


@pytest.mark.parametrize(
    ("reason", "done", "complete"),
    [("stop", True, True), ("stop", False, True), (None, True, True), (None, False, False)],
)
def test_a_stream_is_complete_by_its_reason_or_its_end(
    reason: str | None, done: bool, complete: bool
) -> None:
    assert parse(chunk({"content": "x"}), chunk(reason=reason), done=done).complete is complete


def test_a_chunk_without_choices_counts_and_says_nothing() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    parsed = parse(chunk({"content": "x"}, "stop"), {"choices": [], "usage": usage})
    assert parsed.message == assistant("x")
    assert parsed.usage == {**usage, "input_tokens": 3, "output_tokens": 4}


def test_only_the_first_choice_is_read() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}
    assert parse(other, chunk({"content": "yes"})).message == assistant("yes")


ERROR = {"message": "busy", "type": "server_error", "param": None, "code": "overloaded"}


def test_an_error_inside_a_stream_has_the_status_of_the_stream() -> None:
    parsed = parse(chunk({"content": "x"}), {"error": ERROR}, chunk(reason="stop"))
    assert parsed.error is not None
    assert (parsed.error.status, parsed.error.type) == (200, "server_error")
    assert (parsed.error.message, parsed.error.code) == ("busy", "overloaded")
    assert parsed.message == assistant("x")
    assert not parsed.complete


def test_an_error_event_need_not_be_json() -> None:
    parsed = WIRE.parse(b"event: error\ndata: upstream died\n\n", SSE)
    assert parsed.error is not None
    assert (parsed.error.status, parsed.error.message) == (200, "upstream died")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"error": {**ERROR, "code": "rate_limit_exceeded"}}, 429, "busy"),
        ({"error": {**ERROR, "type": "made_up", "code": None}}, 0, "busy"),
        ({"error": ERROR}, 500, "busy"),
        ({"error": "busy"}, 0, "busy"),
        ({"object": "error", "message": "busy", "type": "BadRequestError", "code": 400}, 0, "busy"),
    ],
)
def test_an_error_is_read_without_trust(body: Json, status: int, message: str) -> None:
    error = WIRE.parse(json.dumps(body).encode(), "application/json").error
    assert error is not None
    assert (error.status, error.message) == (status, message)


def test_a_refusal_of_ours_is_read_back_whole() -> None:
    error = WIRE.refuse([], "openai-chat")[0].error
    (send,) = written(error)
    assert WIRE.parse(send.data, "application/json").error == error


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"3", b'{"choices":[]}', b'{"choices":3}'])
def test_what_is_no_answer_has_no_message(body: bytes) -> None:
    assert WIRE.parse(body, "application/json").message is None


def test_thoughts_of_gateways_are_thinking() -> None:
    said = {"role": "assistant", "content": "", "reasoning_content": "hm"}
    body = {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    assert WIRE.parse(json.dumps(body).encode(), "").message == assistant(Thinking("hm"))


def test_what_was_written_knows_its_content_type() -> None:
    assert content_type(written(Reply((Text("x"),)))) == "application/json"
    assert content_type(written(Reply(), stream=True)).startswith(SSE)
    assert content_type(written(ApiError(500, "x", "y"), stream=True)) == "application/json"
