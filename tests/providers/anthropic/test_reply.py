"""Replies: what is written is read back the same, by us and by the official client."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.draws import Draws
from harness.core.values.messages import Json, Message, Opaque, Text, Thinking, ToolUse
from harness.core.values.plans import ApiError, Recorded, Reply
from harness.providers.anthropic.blocks import block_to, message_from
from tests.providers.anthropic.sdk import ASK, WIRE, Mouth, reading, written
from tests.providers.anthropic.strategies import PASSED_THROUGH, objects, replies, texts, words
from tests.providers.sends import content_type, joined


@pytest.fixture(scope="module")
def mouth() -> Mouth:
    """One client for the module: to build it costs more than a call."""
    return Mouth()


@given(replies, st.booleans())
def test_what_is_written_is_read_back(reply: Reply, stream: bool) -> None:
    sends = written(reply, stream)
    parsed = WIRE.parse(joined(sends), content_type(sends))
    assert parsed.message == Message("assistant", reply.blocks)
    assert parsed.stop == reply.stop
    assert parsed.complete
    assert parsed.error is None
    assert reply.usage.items() <= parsed.usage.items()


@given(texts, st.sampled_from(["end_turn", "refusal", None]), st.booleans())
def test_a_text_that_is_said_again_is_written_as_any_reply(
    text: str, stop: str | None, stream: bool
) -> None:
    for key in ("main/model#1", "main/model#2"):
        said = WIRE.write(Reply((Text(text),), stop), reading(stream), key, Draws(7))
        counted = WIRE.parse(joined(said), content_type(said)).usage
        usage = {"output_tokens": counted["output_tokens"]}
        other = Reply((Text(text),), stop, usage)
        assert said == WIRE.write(other, reading(stream), key, Draws(7))


@given(replies)
def test_plain_and_streamed_say_the_same(reply: Reply) -> None:
    plain, streamed = written(reply), written(reply, stream=True)
    one = WIRE.parse(joined(plain), content_type(plain))
    assert WIRE.parse(joined(streamed), content_type(streamed)) == one


proper_blocks = (
    st.builds(Text, texts)
    | st.builds(Thinking, texts, words)
    | st.builds(Thinking, st.just(""), st.just(""), words)
    | st.builds(ToolUse, words, words, objects)
)
proper_replies = st.builds(
    Reply,
    st.lists(proper_blocks, max_size=4).map(tuple),
    st.sampled_from(["end_turn", "tool_use", "max_tokens", "refusal"]),
)


@given(proper_replies)
def test_the_official_client_sees_what_was_meant(mouth: Mouth, reply: Reply) -> None:
    plain, streamed = mouth.plain(reply), mouth.streamed(reply)
    content = [block_to(block) for block in reply.blocks]
    for message in (plain, streamed):
        seen = [block.to_dict() for block in message.content]
        assert [_without_nulls(block) for block in seen] == content
        assert message.stop_reason == reply.stop
    assert plain.id == streamed.id
    assert plain.usage.input_tokens == reading().tokens
    assert plain.usage.input_tokens == streamed.usage.input_tokens
    assert plain.usage.output_tokens == streamed.usage.output_tokens


def _without_nulls(block: dict[str, Any]) -> dict[str, Any]:
    """A block without the optional fields that the client adds as null."""
    added = ("citations", "caller", "toolset_name", "parsed_output")
    return {k: v for k, v in block.items() if not (k in added and v is None)}


@given(st.lists(st.sampled_from(PASSED_THROUGH), max_size=4), st.booleans())
def test_what_we_do_not_know_reaches_the_client_and_comes_back(
    mouth: Mouth, values: list[dict[str, Json]], stream: bool
) -> None:
    ask = mouth.beta_streamed if stream else mouth.beta_plain
    message = ask(Reply(tuple(Opaque(value["type"], value) for value in values), "made_up"))
    seen = [block.to_dict() for block in message.content]
    assert [
        {k: v for k, v in one.items() if k in value}
        for one, value in zip(seen, values, strict=True)
    ] == values
    assert message.stop_reason == "made_up"
    sent = message_from({"role": "assistant", "content": seen})
    assert [block.kind for block in sent.blocks if isinstance(block, Opaque)] == [
        value["type"] for value in values
    ]


def test_more_fields_of_a_message_are_kept() -> None:
    extra = {"container": {"id": "c"}, "stop_sequence": "END", "made_up": 1}
    for stream in (False, True):
        sends = written(Reply((Text("a"),), "stop_sequence", {}, extra), stream)
        body = joined(sends)
        for name in extra:
            assert f'"{name}"'.encode() in body


def test_a_stream_is_one_send_for_each_event() -> None:
    call = ToolUse("toolu_1", "read", {})
    blocks = (Thinking("hm", "sig"), Text("a" * 65), call, Opaque("new", {"type": "new", "x": 1}))
    sends = written(Reply(blocks, "tool_use"), stream=True)
    events = [_event(send.data) for send in sends]
    assert [name for name, _ in events] == [value["type"] for _, value in events]
    assert [_said(value) for _, value in events] == [
        "message_start",
        "start 0 thinking",
        "thinking_delta hm",
        "signature_delta sig",
        "content_block_stop",
        "start 1 text",
        "text_delta " + "a" * 64,
        "text_delta a",
        "content_block_stop",
        "start 2 tool_use",
        "input_json_delta ",
        "content_block_stop",
        "start 3 new",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert [send.head is not None for send in sends] == [True] + [False] * (len(sends) - 1)


def _event(data: bytes) -> tuple[str, dict[str, Json]]:
    first, second = data.decode().removesuffix("\n\n").split("\n")
    return first.removeprefix("event: "), json.loads(second.removeprefix("data: "))


def _said(value: dict[str, Json]) -> str:
    kind: str = value["type"]
    if kind == "content_block_start":
        return f"start {value['index']} {value['content_block']['type']}"
    if kind != "content_block_delta":
        return kind
    name, piece = value["delta"].values()
    return f"{name} {piece}"


def test_the_end_carries_the_stop_and_the_whole_usage() -> None:
    sends = written(Reply((Text("x"),), "refusal", {"output_tokens": 9}), stream=True)
    _, start = _event(sends[0].data)
    _, end = _event(sends[-2].data)
    assert (start["message"]["stop_reason"], start["message"]["content"]) == (None, [])
    assert start["message"]["usage"]["output_tokens"] == 1
    assert end["usage"]["output_tokens"] == 9
    assert end["usage"]["input_tokens"] == start["message"]["usage"]["input_tokens"]
    assert end["delta"]["stop_reason"] == "refusal"
    assert end["delta"]["stop_details"]["type"] == "refusal"


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_is_a_status_and_an_envelope(stream: bool) -> None:
    error = ApiError(529, "overloaded_error", "Overloaded", {"X-Should-Retry": "false"})
    (send,) = written(error, stream)
    assert send.head is not None
    assert send.head.status == 529
    assert send.head.headers["x-should-retry"] == "false"
    assert send.head.headers["content-type"] == "application/json"
    assert json.loads(send.data) == {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
        "request_id": send.head.headers["request-id"],
    }
    assert WIRE.parse(send.data, "application/json").error == msgspec.structs.replace(
        error, headers={}
    )


@pytest.mark.parametrize(
    ("status", "kind", "raised"),
    [
        (401, "authentication_error", anthropic.AuthenticationError),
        (404, "not_found_error", anthropic.NotFoundError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
    ],
)
def test_the_official_client_raises_its_own_error(
    mouth: Mouth, status: int, kind: str, raised: type[anthropic.APIStatusError]
) -> None:
    error = ApiError(status, kind, "no")
    for call in (mouth.plain, mouth.streamed):
        with pytest.raises(raised) as caught:
            call(error)
        assert caught.value.request_id
        assert caught.value.body == json.loads(caught.value.response.text)


def test_the_official_client_gets_a_refusal_word_for_word(mouth: Mouth) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "n", "input": {}}
    asked = [*ASK["messages"], {"role": "assistant", "content": [use]}, *ASK["messages"]]
    with pytest.raises(anthropic.BadRequestError) as caught:
        mouth.client.messages.create(**{**ASK, "messages": asked})
    assert caught.value.response.json()["error"] == {
        "type": "invalid_request_error",
        "message": "messages.1: `tool_use` ids were found without `tool_result` blocks "
        "immediately after: toolu_1. Each `tool_use` block must have a corresponding "
        "`tool_result` block in the next message.",
    }


def test_a_recording_is_sent_as_it_was() -> None:
    (send,) = written(Recorded(203, {"a": "b"}, b"\xff"), stream=True)
    assert send.head is not None
    assert (send.head.status, send.head.headers, send.data) == (203, {"a": "b"}, b"\xff")


def test_an_input_that_is_an_empty_text_is_streamed_as_a_json_string() -> None:
    sends = written(Reply((ToolUse("t", "f", ""),), "tool_use"), stream=True)
    assert b'"partial_json":"\\"\\""' in joined(sends)
