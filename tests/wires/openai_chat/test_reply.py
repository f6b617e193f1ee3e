"""Replies: what is written is read back the same, by us and by the official client."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.draws import Draws
from harness.core.messages import Json, Message, Opaque, Text, Thinking, ToolUse, assistant
from harness.core.plans import ApiError, Recorded, Reply
from harness.wires.openai_chat.arguments import arguments_to
from tests.wires.openai_chat import strategies as some
from tests.wires.openai_chat.sdk import ASK, WIRE, Mouth, content_type, joined, reading, written


@pytest.fixture(scope="module")
def mouth() -> Mouth:
    """One client for the module: to build it costs more than a call."""
    return Mouth()


@given(some.replies(), st.booleans())
def test_what_is_written_is_read_back(reply: Reply, stream: bool) -> None:
    sends = written(reply, stream)
    parsed = WIRE.parse(joined(sends), content_type(sends))
    assert parsed.message == Message("assistant", reply.blocks)
    assert parsed.stop == reply.stop
    assert parsed.complete
    assert parsed.error is None
    assert reply.usage.items() <= parsed.usage.items()


@given(some.replies())
def test_plain_and_streamed_say_the_same(reply: Reply) -> None:
    plain, streamed = written(reply), written(reply, stream=True)
    one = WIRE.parse(joined(plain), content_type(plain))
    other = WIRE.parse(joined(streamed), content_type(streamed))
    assert (one.message, one.stop) == (other.message, other.stop)
    same = ("completion_tokens", "output_tokens", "speed")
    assert [one.usage.get(n) for n in same] == [other.usage.get(n) for n in same]


proper_replies = st.builds(
    lambda said, calls, stop: Reply((*said, *calls), stop),
    st.lists(st.builds(Text, some.texts), max_size=1),
    st.lists(some.tool_uses, max_size=3),
    st.sampled_from(["end_turn", "tool_use"]),
)


@given(proper_replies)
def test_the_official_client_sees_what_was_meant(mouth: Mouth, reply: Reply) -> None:
    plain, streamed = mouth.plain(reply), mouth.streamed(reply)
    for completion in (plain, streamed):
        message = completion.choices[0].message
        assert (message.content or "") == assistant(*reply.blocks).text
        seen = [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ()]
        calls = assistant(*reply.blocks).tool_uses
        assert seen == [(c.id, c.name, arguments_to(c.input)) for c in calls]
    assert plain.id == streamed.id
    assert plain.usage.prompt_tokens == reading().tokens
    assert plain.usage.completion_tokens == streamed.usage.completion_tokens
    total = plain.usage.prompt_tokens + plain.usage.completion_tokens
    assert plain.usage.total_tokens == total


def test_a_stream_is_one_send_for_each_chunk() -> None:
    calls = (ToolUse("call_1", "read", {"path": "x" * 60}), ToolUse("call_2", "list", ""))
    sends = written(Reply((Thinking("hm"), Text("a" * 65), *calls), "tool_use"), stream=True)
    assert sends[-1].data == b"data: [DONE]\n\n"
    values = [_value(send.data) for send in sends[:-1]]
    assert {value["object"] for value in values} == {"chat.completion.chunk"}
    assert len({value["id"] for value in values}) == 1
    arguments = json.dumps(calls[0].input, separators=(",", ":"))
    assert [_delta(value) for value in values] == [
        {"role": "assistant", "content": "", "reasoning_content": "", "refusal": None},
        {"reasoning_content": "hm"},
        {"content": "a" * 64},
        {"content": "a"},
        {"tool_calls": [_named(0, "call_1", "read")]},
        {"tool_calls": [{"index": 0, "function": {"arguments": arguments[:64]}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": arguments[64:]}}]},
        {"tool_calls": [_named(1, "call_2", "list")]},
        {},
        None,
    ]
    reasons = [c["finish_reason"] for value in values for c in value["choices"]]
    assert reasons == [None] * 8 + ["tool_calls"]
    assert [send.head is not None for send in sends] == [True] + [False] * (len(sends) - 1)


def _value(data: bytes) -> dict[str, Json]:
    value: dict[str, Json] = json.loads(data.decode().removeprefix("data: "))
    return value


def _delta(value: dict[str, Json]) -> Json:
    return value["choices"][0]["delta"] if value["choices"] else None


def _named(index: int, id_: str, name: str) -> dict[str, Json]:
    function = {"name": name, "arguments": ""}
    return {"index": index, "id": id_, "type": "function", "function": function}


def test_a_very_long_text_comes_in_longer_pieces() -> None:
    sends = written(Reply((Text("x" * 1_000_000),)), stream=True)
    assert len(sends) == 2000 + 4
    assert len(_delta(_value(sends[1].data))["content"]) == 500


def test_an_answer_without_text_begins_with_none() -> None:
    sends = written(Reply((ToolUse("c", "f", {}),), "tool_use"), stream=True)
    assert _delta(_value(sends[0].data))["content"] is None
    assert json.loads(joined(written(Reply())))["choices"][0]["message"]["content"] is None


def test_usage_is_a_chunk_of_its_own_and_only_where_it_was_asked_for(mouth: Mouth) -> None:
    reply = Reply((Text("x"),), usage={"output_tokens": 9})
    *_, last = asked = mouth.chunks(reply, stream_options={"include_usage": True})
    assert [chunk.usage for chunk in asked[:-1]] == [None] * (len(asked) - 1)
    assert (last.choices, last.usage.completion_tokens) == ([], 9)
    assert last.usage.prompt_tokens > 0
    assert all(chunk.choices and chunk.usage is None for chunk in mouth.chunks(reply))


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("made_up", "made_up"),
        (None, None),
    ],
)
def test_a_stop_is_said_in_the_wires_words(mouth: Mouth, stop: str | None, reason: str) -> None:
    reply = Reply((Text("x"),), stop)
    assert mouth.plain(reply).choices[0].finish_reason == reason
    said = [choice.finish_reason for chunk in mouth.chunks(reply) for choice in chunk.choices]
    assert said == [None] * (len(said) - 1) + [reason]


def test_what_the_wire_cannot_say_is_one_text_and_no_part_of_another_api() -> None:
    blocks = (Text("a"), Opaque("server_tool_use", {"type": "server_tool_use"}), Text("b"))
    message = json.loads(joined(written(Reply(blocks))))["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "a\nb", "refusal": None, "annotations": []}


def test_more_fields_of_the_message_are_said() -> None:
    reply = Reply((Text("x"),), extra={"annotations": [{"type": "url_citation"}]})
    message = json.loads(joined(written(reply)))["choices"][0]["message"]
    assert message["annotations"] == [{"type": "url_citation"}]


def test_a_legacy_call_is_a_field_of_its_own() -> None:
    call = ToolUse("read", "read", {"a": 1}, {"type": "function_call"})
    for stream in (False, True):
        sends = written(Reply((call,), "tool_use"), stream)
        assert b'"function_call":{"name":"read"' in joined(sends)
        assert b'tool_calls":' not in joined(sends)
        assert WIRE.parse(joined(sends), content_type(sends)).message == assistant(call)


@given(st.booleans())
def test_half_an_emoji_is_written_as_an_escape(stream: bool) -> None:
    reply = Reply((Text("x\ud83d"),))
    sends = written(reply, stream)
    assert rb"x\ud83d" in joined(sends)
    parsed = WIRE.parse(joined(sends), content_type(sends))
    assert parsed.message == Message("assistant", reply.blocks)


def test_ids_follow_from_seed_and_key_alone() -> None:
    asked = reading()
    one = WIRE.write(Reply(), asked, "main/model#1", Draws(1))
    assert WIRE.write(Reply(), asked, "main/model#1", Draws(1)) == one
    others = (
        WIRE.write(Reply(), asked, "main/model#2", Draws(1)),
        WIRE.write(Reply(), asked, "main/model#1", Draws(2)),
    )
    ids = {json.loads(joined(sends))["id"] for sends in (one, *others)}
    assert len(ids) == 3
    assert all(id_.startswith("chatcmpl-") for id_ in ids)


@pytest.mark.parametrize("stream", [False, True])
def test_every_head_names_the_request_and_what_is_left(stream: bool) -> None:
    head = written(Reply(), stream)[0].head
    assert head is not None
    assert head.headers["x-request-id"].startswith("req_")
    left = int(head.headers["x-ratelimit-limit-tokens"]) - reading(stream).tokens
    assert head.headers["x-ratelimit-remaining-tokens"] == str(left)
    assert head.headers["x-ratelimit-reset-requests"] == "6ms"


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("rate_limit_error", 429, ("requests", "rate_limit_exceeded")),
        ("billing_error", 402, ("insufficient_quota", "insufficient_quota")),
        ("authentication_error", 401, ("invalid_request_error", "invalid_api_key")),
        ("not_found_error", 404, ("invalid_request_error", "model_not_found")),
        ("overloaded_error", 529, ("server_error", None)),
        ("my_own_error", 418, ("my_own_error", None)),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_is_a_status_and_an_envelope_in_the_providers_words(
    kind: str, status: int, said: tuple[str, str | None], stream: bool
) -> None:
    error = ApiError(status, kind, "No.", {"X-Should-Retry": "false"})
    (send,) = written(error, stream)
    assert send.head is not None
    assert send.head.status == status
    assert send.head.headers["x-should-retry"] == "false"
    assert send.head.headers["content-type"] == "application/json"
    expected = {"message": "No.", "type": said[0], "param": None, "code": said[1]}
    assert json.loads(send.data) == {"error": expected}


def test_a_prompt_over_the_window_has_its_code_whoever_says_it() -> None:
    text = "This model's maximum context length is 8192 tokens. However, you sent more."
    (send,) = written(ApiError(400, "invalid_request_error", text))
    error = json.loads(send.data)["error"]
    assert (error["code"], error["param"]) == ("context_length_exceeded", "messages")


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ],
)
def test_the_official_client_raises_its_own_error(
    mouth: Mouth, status: int, raised: type[openai.APIStatusError]
) -> None:
    error = ApiError(status, "some_error", "no", code="some_code")
    for call in (mouth.plain, mouth.streamed):
        with pytest.raises(raised) as caught:
            call(error)
        assert caught.value.request_id
        assert (caught.value.type, caught.value.code) == ("some_error", "some_code")


def test_the_official_client_gets_a_refusal_word_for_word(mouth: Mouth) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked: list[Any] = [*ASK["messages"], {"role": "assistant", "tool_calls": [call]}]
    with pytest.raises(openai.BadRequestError) as caught:
        mouth.client.chat.completions.create(**{**ASK, "messages": [*asked, *ASK["messages"]]})
    assert caught.value.response.json()["error"] == {
        "message": "An assistant message with 'tool_calls' must be followed by tool messages "
        "responding to each 'tool_call_id'. The following tool_call_ids did not have response "
        "messages: call_1",
        "type": "invalid_request_error",
        "param": "messages.[2].role",
        "code": None,
    }


def test_a_recording_is_sent_as_it_was() -> None:
    (send,) = written(Recorded(203, {"a": "b"}, b"\xff"), stream=True)
    assert send.data == b"\xff"
    assert send.head is not None
    assert (send.head.status, send.head.headers) == (203, {"a": "b"})
