"""Replies: what is written is read back the same, by us and by the official client."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import Message, Opaque, Text, ToolUse, assistant
from harness.core.values.plans import Recorded, Reply
from harness.providers.shared.codec import written_arguments_to as arguments_to
from tests.providers.openai_chat import strategies as some
from tests.providers.openai_chat.sdk import WIRE, Mouth, reading, written
from tests.providers.sends import content_type, joined


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


@pytest.mark.parametrize("stream", [False, True])
def test_every_head_names_the_request_and_what_is_left(stream: bool) -> None:
    head = written(Reply(), stream)[0].head
    assert head is not None
    assert head.headers["x-request-id"].startswith("req_")
    left = int(head.headers["x-ratelimit-limit-tokens"]) - reading(stream).tokens
    assert head.headers["x-ratelimit-remaining-tokens"] == str(left)
    assert head.headers["x-ratelimit-reset-requests"] == "6ms"


def test_a_recording_is_sent_as_it_was() -> None:
    (send,) = written(Recorded(203, {"a": "b"}, b"\xff"), stream=True)
    assert send.data == b"\xff"
    assert send.head is not None
    assert (send.head.status, send.head.headers) == (203, {"a": "b"})
