"""Answers read back: any line ending, any cut, any nonsense."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Message, Opaque, Text, ToolUse
from harness.core.values.plans import ApiError, Reply
from tests.providers.anthropic.sdk import WIRE, written
from tests.providers.anthropic.strategies import json_values, replies
from tests.providers.sends import joined

STREAM = "text/event-stream"


def parse(body: bytes, content_type: str = STREAM) -> Parsed:
    """The body as the wire reads it."""
    return WIRE.parse(body, content_type)


def event(name: str, **fields: Any) -> bytes:
    """One event of a stream."""
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


START = event("message_start", message={"role": "assistant", "usage": {"input_tokens": 3}})
OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}


@given(replies, st.sampled_from([b"\r\n", b"\r"]), st.booleans())
def test_line_endings_comments_pings_and_the_last_blank_line_do_not_matter(
    reply: Reply, ending: bytes, trimmed: bool
) -> None:
    frames = [send.data for send in written(reply, stream=True)]
    plain = b"".join(frames)
    busy = b": hello\n\n" + b"event: ping\ndata: {}\n\n".join(frames) + b"event: new\ndata: {}\n\n"
    busy = (busy.rstrip(b"\n") if trimmed else busy).replace(b"\n", ending)
    assert parse(busy) == parse(plain)
    assert parse(b"\xef\xbb\xbf" + busy) == parse(plain)


@given(replies)
def test_data_on_several_lines_is_one_text(reply: Reply) -> None:
    plain = joined(written(reply, stream=True))
    assert parse(plain.replace(b'{"type":', b'{\ndata:"type":\ndata:')) == parse(plain)


@given(replies, st.data())
def test_a_cut_stream_is_incomplete_and_keeps_what_came(reply: Reply, data: st.DataObject) -> None:
    frames = [send.data for send in written(reply, stream=True)]
    plain = b"".join(frames)
    said_all = plain[: plain.rindex(b"event: message_stop")] if reply.stop else plain
    assert parse(said_all).complete, "its stop reason came: only the last event is missing"
    cut = parse(plain[: data.draw(st.integers(0, said_all.rindex(b"}")))])
    assert not cut.complete
    said = cut.message.blocks if cut.message else ()
    assert len(said) <= len(reply.blocks)
    assert said[:-1] == reply.blocks[: max(0, len(said) - 1)]


def test_a_cut_call_is_not_a_whole_one() -> None:
    call = ToolUse("toolu_1", "write", {"path": "/a", "content": "x" * 100})
    frames = [send.data for send in written(Reply((call,), "tool_use"), stream=True)]
    cut = parse(b"".join(frames[:4]))
    assert cut.message is not None
    (block,) = cut.message.blocks
    assert isinstance(block, ToolUse)
    assert isinstance(block.input, str)
    assert block.input.startswith('{"path":"/a"')
    assert (cut.stop, cut.complete) == (None, False)


@given(replies, st.data())
def test_cut_json_is_incomplete(reply: Reply, data: st.DataObject) -> None:
    body = joined(written(reply))
    cut = parse(body[: data.draw(st.integers(0, len(body) - 1))], "application/json")
    assert (cut.message, cut.complete) == (None, False)


def test_an_error_event_ends_the_stream_and_keeps_the_part_before() -> None:
    delta = {"index": 0, "delta": {"type": "text_delta", "text": "so far"}}
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    body = START + event("content_block_start", **block) + event("content_block_delta", **delta)
    parsed = parse(body + event("error", error=OVERLOADED) + event("message_stop"))
    assert parsed.message == Message("assistant", (Text("so far"),))
    assert parsed.error == ApiError(200, "overloaded_error", "Overloaded")
    assert not parsed.complete


def test_an_error_event_after_the_end_still_counts() -> None:
    parsed = parse(START + event("message_stop") + event("error", error=OVERLOADED))
    assert (parsed.complete, parsed.error is not None) == (False, True)


def test_an_error_event_need_not_be_json() -> None:
    parsed = parse(START + b"event: error\ndata: boom\n\n")
    assert parsed.error == ApiError(200, "", "boom")


@pytest.mark.parametrize(
    ("kind", "status"), [("rate_limit_error", 429), ("request_too_large", 413), ("new_error", 0)]
)
def test_an_error_body_gets_the_status_of_its_type(kind: str, status: int) -> None:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": "m"}}).encode()
    assert parse(body, "application/json").error == ApiError(status, kind, "m")


def test_usage_is_replaced_never_added() -> None:
    usage = {"input_tokens": None, "output_tokens": 5}
    body = START + event("message_delta", delta={"stop_reason": "end_turn"}, usage=usage)
    parsed = parse(body + event("message_delta", delta={"stop_reason": "x"}, usage=usage))
    assert (parsed.usage, parsed.stop) == ({"input_tokens": 3, "output_tokens": 5}, "x")


def test_odd_streams_are_put_together_as_the_official_client_does() -> None:
    start = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    text = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "a"})
    lost = event("content_block_delta", index=9, delta={"type": "text_delta", "text": "b"})
    wrong = event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "c"})
    body = text + START + start + text + lost + wrong + start + text + START
    parsed = parse(body)
    assert parsed.message == Message("assistant", (Text("aa"), Text("")))


def test_bad_json_ends_the_stream_there() -> None:
    parsed = parse(START + b"event: content_block_start\ndata: {\n\n" + event("message_stop"))
    assert (parsed.message, parsed.complete) == (Message("assistant"), False)


def test_a_stream_is_known_without_its_content_type() -> None:
    assert parse(joined(written(Reply((Text("a"),)), stream=True)), "").complete


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b"null", b"{}", b"\xff", b"[" * 99999])
@pytest.mark.parametrize("content_type", ["", "application/json", STREAM, "text/html"])
def test_what_is_no_answer_has_no_message(body: bytes, content_type: str) -> None:
    parsed = parse(body, content_type)
    assert (parsed.message, parsed.error) == (None, None)


fields = ("message", "index", "content_block", "delta", "usage", "error")
kinds = (
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "message_stop",
    "error",
)
wild_values = (
    json_values
    | st.integers(-1, 2)
    | st.sampled_from(
        [
            {"type": "text"},
            {"type": "tool_use", "input": 3},
            {"type": "input_json_delta", "partial_json": "{"},
            {"type": "text_delta", "text": 3},
            {"type": "citations_delta", "citation": 1},
            {"stop_reason": 3},
            {"content": [3], "usage": [3], "role": 3},
        ]
    )
)
wild_events = st.builds(
    lambda name, values: event(name, **values),
    st.sampled_from(kinds),
    st.dictionaries(st.sampled_from(fields), wild_values, max_size=3),
)


@given(st.lists(wild_events, max_size=6))
def test_no_stream_raises(events: list[bytes]) -> None:
    parsed = parse(START + b"".join(events))
    assert parsed.message is not None


@given(json_values)
def test_no_json_raises(value: Any) -> None:
    for body in (value, {"content": value, "usage": value}, {"error": value}):
        parsed = parse(json.dumps(body).encode(), "application/json")
        assert parsed.complete


def test_a_summary_may_come_in_a_delta_of_its_own() -> None:
    said = {"type": "compaction_delta", "content": "so far", "encrypted_content": "x"}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"role": "assistant"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "compaction"}},
        {"type": "content_block_delta", "index": 0, "delta": said},
    ]
    text = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    parsed = parse(text.encode(), "text/event-stream")
    assert parsed.message is not None
    (block,) = parsed.message.blocks
    assert isinstance(block, Opaque)
    assert block.value["content"] == "so far"
