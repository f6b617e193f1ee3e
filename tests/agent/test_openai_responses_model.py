"""The model over the Responses API: whole answers, and every way in which none comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.agent.failures import FailureKind, ModelFailure
from harness.agent.guards.empty_input import UNPARSED
from harness.agent.model import Answer, Query
from harness.agent.openai_responses_model import OpenAIResponsesModel, read_item, write_items
from harness.clock import RealClock
from harness.core.messages import (
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.plans import ApiError, Reply
from harness.core.scenario import Turn
from harness.doors.door import Door
from harness.doors.in_process import InProcessBrief
from tests.http_library import http
from tests.wires.openai_responses.agents import transition
from tests.wires.openai_responses.strategies import histories
from tests.wires.openai_responses.world import body, content_type, joined, reader, written

QUERY = Query((user("go"),), (ToolSpec("look", "Looks"),))
STREAMS = pytest.mark.parametrize("stream", [False, True])
SAID = Reply((Thinking("why", "gAAAAA1"), Text("I look."), ToolUse("c1", "look", {"a": 1})))
WHOLE = Reply(SAID.blocks, "tool_use")


def asked(stream: bool, *turns: Turn, **fields: Any) -> tuple[Answer, list[str]]:
    """The answer to the query from a scripted provider, and what was shown."""
    run = transition(*turns, stream=stream, **fields)
    client = InProcessBrief(Door(run, RealClock()), PurePath()).openai(max_retries=0)
    shown: list[str] = []
    answer = OpenAIResponsesModel(client, stream).query(QUERY, shown.append)
    assert [e.refused for e in run.history.events if hasattr(e, "refused")] == [()]
    return answer, shown


def answered(
    data: bytes, kind: str, status: int = 200, query: Query = QUERY
) -> Callable[[], Answer]:
    """Asking a provider that answers with these bytes."""

    def answer(request: http.Request) -> http.Response:
        return http.Response(status, headers={"content-type": kind}, content=data)

    client = openai.OpenAI(
        api_key="key",
        base_url="http://fake.invalid/v1",
        max_retries=0,
        http_client=http.Client(transport=http.MockTransport(answer)),
    )
    stream = "event-stream" in kind
    return lambda: OpenAIResponsesModel(client, stream).query(query)


def failing(ask: Callable[[], Answer]) -> tuple[FailureKind, str]:
    """The kind and text of the failure that comes."""
    with pytest.raises(ModelFailure) as caught:
        ask()
    return caught.value.kind, caught.value.text


def streamed(*events: dict[str, Any]) -> bytes:
    """Events as a stream."""
    frames = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    return "".join(frames).encode()


@STREAMS
def test_an_answer_is_what_the_model_said(stream: bool) -> None:
    answer, shown = asked(
        stream, Turn(think="why", say="I look.", use="look", input={"at": "naïve"})
    )
    thought, text, call = answer.message.blocks
    assert (text, answer.stop) == (Text("I look."), "tool_use")
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature[:4]) == ("why", "gAAA")
    assert isinstance(call, ToolUse)
    assert (call.name, call.input) == ("look", {"at": "naïve"})
    assert "".join(shown) == "I look."


STOPS = {
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "end_turn": "end_turn",
    "steered": "steered",
}


@STREAMS
@pytest.mark.parametrize("stop", STOPS)
def test_it_says_why_it_stopped(stop: str, stream: bool) -> None:
    answer, _ = asked(stream, Turn(say="half", stop=stop))
    assert (answer.message, answer.stop) == (assistant("half"), STOPS[stop])
    assert answer.tokens > 0


@STREAMS
def test_a_refusal_is_shown_and_is_one(stream: bool) -> None:
    block = {"type": "text", "text": "No.", "extra": {"type": "refusal"}}
    answer, shown = asked(stream, Turn(blocks=(block,)))
    assert (answer.message, answer.stop) == (assistant("No."), "refusal")
    assert shown == ["No."]


@settings(deadline=None)
@given(st.data())
def test_a_stream_that_ends_early_is_no_answer(data: st.DataObject) -> None:
    sends = written(WHOLE, stream=True)
    kept = data.draw(st.integers(0, len(sends) - 1))
    kind, _ = failing(answered(joined(sends[:kept]), "text/event-stream"))
    assert kind == "broken_stream"


@STREAMS
@pytest.mark.parametrize("text", ['{"path": "/a', "[1]", "null", '"x"', "NaN"])
def test_arguments_that_are_no_object_are_wrapped(text: str, stream: bool) -> None:
    cut = Reply((ToolUse("c1", "look", "PLACE"),), "tool_use")
    sends = written(cut, stream)
    data = joined(sends).replace(b"PLACE", json.dumps(text)[1:-1].encode())
    (call,) = answered(data, content_type(sends))().message.tool_uses
    assert call.input == {UNPARSED: text}


def test_no_arguments_at_all_are_an_empty_object() -> None:
    (block,) = read_item({"type": "function_call", "call_id": "c", "name": "n", "arguments": ""})
    assert block == ToolUse("c", "n", {})


FLAT = {"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}


class Broken(http.SyncByteStream):  # type: ignore[misc]
    """A body whose connection fails after these bytes."""

    def __init__(self, data: bytes, error: Exception) -> None:
        self._data, self._error = data, error

    def __iter__(self) -> Iterator[bytes]:
        yield self._data
        raise self._error


@pytest.mark.parametrize("error", [http.ReadError("reset"), http.ReadTimeout("late")])
def test_a_connection_that_fails_in_a_stream_is_a_broken_stream(error: Exception) -> None:
    begun = joined(written(WHOLE, stream=True)[:4])

    def answer(request: http.Request) -> http.Response:
        kind = {"content-type": "text/event-stream"}
        return http.Response(200, headers=kind, stream=Broken(begun, error))

    client = openai.OpenAI(
        api_key="key",
        base_url="http://fake.invalid/v1",
        http_client=http.Client(transport=http.MockTransport(answer)),
    )
    kind, _ = failing(lambda: OpenAIResponsesModel(client, True).query(QUERY))
    assert kind == "broken_stream"


def test_an_item_of_another_kind_is_kept_and_sent_back_as_it_came() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    sends = written(Reply((Opaque("web_search_call", item), Text("found"))))
    message = answered(joined(sends), "application/json")().message
    assert message.blocks == (Opaque("web_search_call", item), Text("found"))
    assert next(write_items(message)) == item
    foreign = assistant(Opaque("server_tool_use", {"type": "server_tool_use"}))
    assert list(write_items(foreign)) == []


EVENTS: dict[str, tuple[dict[str, Any], FailureKind]] = {
    "flat": (FLAT, "broken_stream"),
    "flat, the request": ({**FLAT, "code": "invalid_request_error"}, "permanent"),
    "flat, too long": ({**FLAT, "code": "context_length_exceeded"}, "overflow"),
    "nested": ({"type": "error", "error": {"type": "server_error"}}, "broken_stream"),
    "nested, the request": (
        {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}},
        "permanent",
    ),
    "nested, too long": (
        {"type": "error", "error": {"code": "context_length_exceeded", "message": "no"}},
        "overflow",
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_error_in_a_stream_is_a_failure(name: str) -> None:
    event, expected = EVENTS[name]
    begun = joined(written(WHOLE, stream=True)[:4])
    kind, _ = failing(answered(begun + streamed({"sequence_number": 4, **event}), "event-stream"))
    assert kind == expected


FAILED: dict[str, FailureKind] = {
    "server_error": "broken_stream",
    "invalid_prompt": "permanent",
    "context_length_exceeded": "overflow",
}


@STREAMS
@pytest.mark.parametrize("code", FAILED)
def test_a_response_that_failed_is_a_failure(code: str, stream: bool) -> None:
    sends = written(Reply((Text("half"),), f"failed:{code}"), stream)
    kind, text = failing(answered(joined(sends), content_type(sends)))
    assert kind == FAILED[code]
    assert text.startswith(f"{code}: ")


STATUSES: dict[tuple[int, str, str], FailureKind] = {
    (400, "invalid_request_error", "context_length_exceeded"): "overflow",
    (400, "invalid_request_error", ""): "permanent",
    (401, "authentication_error", ""): "permanent",
    (413, "request_too_large", ""): "overflow",
    (429, "rate_limit_error", ""): "transient",
    (503, "server_error", ""): "transient",
}


@STREAMS
@pytest.mark.parametrize("case", STATUSES)
def test_an_error_status_is_a_failure(case: tuple[int, str, str], stream: bool) -> None:
    status, type_, code = case
    (send,) = written(ApiError(status, type_, "words", code=code), stream)
    kind, _ = failing(answered(send.data, "application/json", status))
    assert kind == STATUSES[case]


ODD = [b"<html>login</html>", b'{"error": {"message": "x"}}', b'{"status": "queued"}', b"{"]


@pytest.mark.parametrize("data", ODD)
def test_a_success_that_holds_no_response_is_a_failure(data: bytes) -> None:
    for kind in ("application/json", "text/html"):
        assert failing(answered(data, kind))[0] == "broken_stream"


@STREAMS
def test_a_message_that_a_wrapper_wrote_is_a_failure(stream: bool) -> None:
    said = Reply((Text("Prompt is too long"),), "end_turn", {"input_tokens": 0, "output_tokens": 0})
    sends = written(said, stream)
    assert failing(answered(joined(sends), content_type(sends)))[0] == "overflow"
    synthetic = joined(sends).replace(b'"model":"m"', b'"model":"<synthetic>"')
    assert failing(answered(synthetic, content_type(sends)))[0] == "overflow"


def test_a_mistake_in_the_program_surfaces() -> None:
    with pytest.raises(AttributeError):
        OpenAIResponsesModel(None, False).query(QUERY)


@given(histories())
def test_what_it_sends_is_taken_by_the_strictest_dialect(messages: list[Message]) -> None:
    items = [item for message in messages for item in write_items(message)]
    reading = reader("openai-responses").read(body(items))
    assert reading.violations == ()
    assert list(reading.messages) == messages


def test_items_of_all_kinds() -> None:
    image = {"source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    message = Message(
        "user", (Text("a"), Opaque("image", {"type": "image", **image}), Opaque("odd", {}))
    )
    assert list(write_items(message)) == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "a"},
                {"type": "input_image", "image_url": "data:image/png;base64,eA=="},
            ],
        }
    ]
    said = assistant(Thinking("unsigned"), Opaque("reasoning", reasoning))
    assert list(write_items(said)) == [reasoning]
    parts = (Text("a"), Opaque("image", {}))
    answered = results(ToolResult("c1", parts), ToolResult("c2", "no", is_error=True))
    assert [item["output"] for item in write_items(answered)] == ["a\n[image]", "no"]
    assert [item.get("status") for item in write_items(answered)] == [None, "incomplete"]


def test_withdrawn_tools_stay_listed_and_a_time_out_is_one_try() -> None:
    sent: list[dict[str, Any]] = []

    def answer(request: http.Request) -> http.Response:
        sent.append(json.loads(request.content))
        raise http.ReadTimeout("late", request=request)

    client = openai.OpenAI(
        api_key="key",
        base_url="http://fake.invalid/v1",
        http_client=http.Client(transport=http.MockTransport(answer)),
    )
    query = Query((user("go"),), QUERY.tools, tools_withdrawn=True, timeout_s=3)
    kind, _ = failing(lambda: OpenAIResponsesModel(client, True).query(query))
    assert kind == "transient"
    (request,) = sent
    assert (request["tool_choice"], len(request["tools"])) == ("none", 1)
    assert (request["store"], "stream" in request) == (False, False)
