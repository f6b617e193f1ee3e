"""Answers: what is written says what it was told to, in JSON and in every chunking of a stream."""

from __future__ import annotations

import json
from itertools import groupby

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolUse
from harness.core.values.plans import ApiError, Recorded, Reply
from tests.providers.openai_responses.strategies import replies
from tests.providers.openai_responses.world import WIRE, Server, body, reader, written
from tests.providers.openai_responses.world import reading as plain_reading
from tests.providers.sends import content_type, joined

STREAMS = pytest.mark.parametrize("stream", [False, True])
ENDS = ("response.completed", "response.incomplete", "response.failed")


def parsed(reply: Reply, stream: bool) -> Parsed:
    sends = written(reply, stream)
    return WIRE.parse(joined(sends), content_type(sends))


def events(reply: Reply) -> list[dict[str, object]]:
    """The data of the events of a streamed reply, each checked against its frame."""
    found = []
    for send in written(reply, stream=True):
        name, data, *rest = send.data.decode().split("\n")
        assert rest == ["", ""]
        value = json.loads(data.removeprefix("data: "))
        assert name == f"event: {value['type']}"
        found.append(value)
    return found


@given(replies(), st.booleans())
def test_an_answer_is_read_back_as_it_was_said(reply: Reply, stream: bool) -> None:
    back = parsed(reply, stream)
    assert back.message == Message("assistant", reply.blocks)
    assert (back.stop, back.complete, back.error) == (reply.stop, True, None)
    assert reply.usage.items() <= back.usage.items()


@given(replies(), st.data())
def test_a_stream_that_was_cut_is_never_complete(reply: Reply, data: st.DataObject) -> None:
    sends = written(reply, stream=True)
    kept = data.draw(st.integers(0, len(sends) - 1))
    whole = joined(sends[:kept])
    cut = data.draw(st.integers(0, len(sends[kept].data) - 3))
    back = WIRE.parse(whole + sends[kept].data[:cut], "text/event-stream")
    assert not back.complete
    assert back.stop is None


@given(replies(), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_line_ends_and_comments_do_not_matter(reply: Reply, end: str, comments: bool) -> None:
    text = joined(written(reply, stream=True)).decode()
    noise = f": ping{end}" if comments else ""
    other = noise + text.replace("\n", end).replace(end * 2, f"{end}{end}{noise}")
    assert WIRE.parse(other.encode(), "text/event-stream") == parsed(reply, stream=True)


@given(replies())
def test_the_events_keep_the_grammar(reply: Reply) -> None:
    found = events(reply)
    kinds = [str(event["type"]) for event in found]
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert [kind for kind in kinds if kind in ENDS] == [kinds[-1]]
    inner = [event for event in found if "output_index" in event]
    for _, of_item in groupby(inner, lambda event: event["output_index"]):
        names = [str(event["type"]) for event in of_item]
        assert names[0] == "response.output_item.added"
        assert names[-1] == "response.output_item.done"
        assert names.count("response.output_item.added") == 1
        assert names.count("response.content_part.added") == names.count(
            "response.content_part.done"
        )


def test_the_ids_are_drawn_from_the_call_and_are_different() -> None:
    reply = Reply((Thinking("a", "s"), Text("b"), ToolUse("call_1", "read", {})), "tool_use")
    response = json.loads(joined(written(reply)))
    ids = [response["id"], *(item["id"] for item in response["output"])]
    assert [id_.partition("_")[0] for id_ in ids] == ["resp", "rs", "msg", "fc"]
    assert len(set(ids)) == 4
    assert json.loads(joined(written(reply)))["id"] == ids[0]


STOPS = {
    "max_tokens": ("incomplete", "max_output_tokens"),
    "refusal": ("incomplete", "content_filter"),
    "steered": ("incomplete", "steered"),
    "tool_use": ("incomplete", "tool_use"),
    "end_turn": ("completed", None),
    None: (None, None),
}


@pytest.mark.parametrize("stop", STOPS)
def test_the_status_says_why_the_model_stopped(stop: str | None) -> None:
    response = json.loads(joined(written(Reply((Text("a"),), stop))))
    details = response["incomplete_details"]
    assert (response["status"], details and details["reason"]) == STOPS[stop]


@STREAMS
def test_a_response_that_failed_is_told_by_its_code(stream: bool) -> None:
    back = parsed(Reply((Text("half"),), "failed:rate_limit_exceeded"), stream)
    assert back.message == Message("assistant", (Text("half"),))
    assert (back.stop, back.complete) == ("failed", True)
    assert back.error is not None
    assert (back.error.status, back.error.code) == (200, "rate_limit_exceeded")


@STREAMS
def test_an_error_is_a_status_and_an_envelope(stream: bool) -> None:
    error = ApiError(429, "rate_limit_error", "Slow down.", {"Retry-After": "3"})
    (send,) = written(error, stream)
    assert send.head is not None
    assert (send.head.status, send.head.headers["retry-after"]) == (429, "3")
    assert json.loads(send.data)["error"] == {
        "message": "Slow down.",
        "type": "requests",
        "param": None,
        "code": "rate_limit_exceeded",
    }
    back = WIRE.parse(send.data, "application/json").error
    assert back == ApiError(429, "requests", "Slow down.", code="rate_limit_exceeded")


def test_a_refusal_of_ours_names_the_parameter() -> None:
    asked = reader().read(body("hi", max_output_tokens=3))
    error = asked.violations[0].error
    (send,) = written(error)
    said = json.loads(send.data)["error"]
    assert (said["param"], said["code"]) == ("max_output_tokens", "integer_below_min_value")


def test_a_recorded_answer_is_sent_as_it_was() -> None:
    recorded = Recorded(418, {"x": "y"}, b"anything")
    (send,) = written(recorded)
    assert send.head is not None
    assert (send.data, send.head.status, send.head.headers) == (b"anything", 418, {"x": "y"})


def test_the_response_says_again_what_was_asked() -> None:
    server = Server()
    tool = {"type": "function", "name": "read", "description": "d", "parameters": {}}
    _, response = server.ask("hi", Reply((Text("a"),)), tools=[tool], instructions="be brief")
    assert (response["instructions"], response["tools"]) == ("be brief", [tool])
    assert response["usage"]["total_tokens"] == (
        response["usage"]["input_tokens"] + response["usage"]["output_tokens"]
    )


def test_the_server_encrypts_reasoning_that_a_script_thinks() -> None:
    kept = Thinking("a", "mine")
    reply = plain_reading().complete(Reply((Thinking("a"), Thinking("b"), Thinking(), kept)))
    first, second, empty, last = reply.blocks
    assert isinstance(first, Thinking)
    assert isinstance(second, Thinking)
    assert isinstance(empty, Thinking)
    assert "" not in (first.signature, second.signature, empty.redacted)
    assert first.signature != second.signature
    assert last == kept
    assert parsed(msgspec.structs.replace(reply, stop="end_turn"), stream=True).message == Message(
        "assistant", reply.blocks
    )


def test_a_reply_that_refuses_stops_for_it() -> None:
    refusal = Reply((Text("no", {"type": "refusal"}),))
    assert plain_reading().complete(refusal).stop == "refusal"
    for other in (Reply((Text("yes"),)), msgspec.structs.replace(refusal, stop="max_tokens")):
        assert plain_reading().complete(other) == other


def test_an_answer_that_ends_in_order_stops_for_what_it_says() -> None:
    """The API has no word for it: a response with calls, and one without, is `completed`."""
    calls, words = Reply((ToolUse("c1", "read", {}),), "end_turn"), Reply((Text("a"),), "tool_use")
    assert plain_reading().complete(calls).stop == "tool_use"
    assert plain_reading().complete(words).stop == "end_turn"


def test_half_a_character_is_carried_as_its_escape() -> None:
    reply = Reply((Text("x\ud83d"), ToolUse("c1", "read", {"a": "\ud83d"})), "tool_use")
    for stream in (False, True):
        assert parsed(reply, stream).message == Message("assistant", reply.blocks)


def test_an_item_that_is_opaque_is_written_as_it_is() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "failed"}
    response = json.loads(joined(written(Reply((Opaque("web_search_call", item),)))))
    assert response["output"] == [item]
