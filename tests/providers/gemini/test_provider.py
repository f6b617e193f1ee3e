"""The provider in a run: its addresses, token counts, models, and calls without ids."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.clock import VirtualClock
from harness.core.history.events import Called
from harness.core.scenario.scenario import Scenario, Turn
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.core.values.plans import Head, Send
from harness.providers import by_name
from harness.providers.gemini.record import RECORD
from harness.providers.shared import hosts
from harness.runner import prepare
from harness.transports.dispatcher import Dispatcher
from tests.providers.gemini.bodies import asked, call, done, read, said

HELLO = asked(said("user", "hi"))
METHODS = ("generateContent", "streamGenerateContent")


def post(path: str, body: bytes = HELLO, method: str = "POST", query: str = "") -> tuple[Head, Any]:
    """Head and JSON of the answer of a run to one request."""
    scenario = Scenario(name="s", wire="gemini", script=(Turn(say="hello"),), window_tokens=5000)
    transition = prepare.transition_for(scenario)
    plan = Dispatcher(transition, VirtualClock()).model(method, path, {}, body, query=query)
    sends = [step for step in plan if isinstance(step, Send)]
    assert sends[0].head is not None
    data = b"".join(send.data for send in sends)
    return sends[0].head, json.loads(data) if data[:1] in b"[{" else data.decode()


@pytest.mark.parametrize("version", ["v1beta", "v1", "v1beta1/publishers/google", "s/other/v1beta"])
@pytest.mark.parametrize("method", METHODS)
def test_a_model_answers_at_each_of_its_addresses(version: str, method: str) -> None:
    head, answer = post(f"/{version}/models/gemini-2.5-pro:{method}")
    assert head.status == 200
    first = answer if method == "generateContent" else answer[0]
    assert first["modelVersion"] == "gemini-2.5-pro"
    assert first["candidates"][0]["content"]["parts"] == [{"text": "hello"}]


def test_a_stream_is_of_events_where_the_query_says_so() -> None:
    head, answer = post("/v1beta/models/g:streamGenerateContent", query="alt=sse")
    assert head.headers["content-type"] == "text/event-stream"
    assert answer.startswith('data: {"candidates"')


@pytest.mark.parametrize(
    "path", ["/v1beta/models/g:embedContent", "/v1beta/models/:generateContent"]
)
def test_other_addresses_are_none(path: str) -> None:
    head, answer = post(path)
    assert head.status == 404
    assert "POST /v1beta/models/{model}:generateContent" in answer["error"]["message"]


@pytest.mark.parametrize("whole", [False, True])
def test_tokens_are_counted(whole: bool) -> None:
    inner = {"generateContentRequest": {"model": "models/g", **json.loads(HELLO)}}
    body = json.dumps(inner).encode() if whole else HELLO
    head, answer = post("/v1beta/models/g:countTokens", body)
    assert head.status == 200
    assert answer["totalTokens"] == read(HELLO).tokens


def test_a_count_refuses_what_an_answer_does() -> None:
    head, answer = post("/v1beta/models/g:countTokens", b"{}")
    assert (head.status, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_models_are_described() -> None:
    _, listed = post("/v1beta/models", b"", "GET")
    assert "models/gemini-2.5-pro" in [model["name"] for model in listed["models"]]
    _, one = post("/v1/models/gemini-2.5-pro", b"", "GET")
    assert (one["name"], one["inputTokenLimit"]) == ("models/gemini-2.5-pro", 5000)


def test_calls_without_ids_are_answered_by_name_and_in_order() -> None:
    turn = (said("model", call("a"), call("b"), call("a")), said("user", *map(done, "baa")))
    first = asked(said("user", "go"), *turn)
    second = asked(said("user", "go"), *turn, *turn)
    reader = by_name("gemini").reader("", None)
    for body in (first, second, first):
        _, called, answered = reader.read(body).messages[:3]
        assert [use.id for use in called.blocks if isinstance(use, ToolUse)] == [
            "a#1",
            "b#2",
            "a#3",
        ]
        assert [b.id for b in answered.blocks if isinstance(b, ToolResult)] == ["b#2", "a#1", "a#3"]
    assert [use.id for use in reader.read(second).messages[3].tool_uses] == ["a#4", "b#5", "a#6"]


@pytest.mark.parametrize(
    ("response", "text", "failed"),
    [
        ({"output": "ok"}, "ok", False),
        ({"result": {"a": 1}}, '{"a":1}', False),
        ({"error": "no"}, "no", True),
        ({"error": "no", "code": 3}, '{"code":3,"error":"no"}', True),
        ({"b": 2, "a": 1}, '{"a":1,"b":2}', False),
        (None, "", False),
    ],
)
def test_what_a_result_says(response: Any, text: str, failed: bool) -> None:
    turn = (said("model", call()), said("user", done(response=response)))
    (result,) = read(asked(said("user", "go"), *turn)).messages[2].tool_results
    assert (result.content, result.is_error) == (text, failed)


def test_a_run_records_the_model_and_the_stream_of_the_address() -> None:
    transition = prepare.transition_for(Scenario(name="s", wire="gemini", script=(Turn(say="x"),)))
    Dispatcher(transition, VirtualClock()).model(
        "POST", "/v1beta/models/gemini-x:streamGenerateContent", {}, HELLO, query="alt=sse"
    )
    request = next(e for e in transition.history.events if isinstance(e, Called)).request
    assert isinstance(request, ModelRequest)
    assert (request.model, request.stream) == ("gemini-x", True)


def test_results_alone_are_a_side_of_their_own() -> None:
    turn = (said("model", call()), said("user", done()), said("user", "and more"))
    mixed = (said("model", call()), said("user", done(), "and more"))
    roles = [message.role for message in read(asked(said("user", "go"), *turn, *mixed)).messages]
    assert roles == ["user", "assistant", "tool", "user", "assistant", "user"]


def test_a_text_of_the_model_that_came_in_chunks_is_one_text() -> None:
    turn = said("model", "I will lo", "ok.", {"text": ""}, call())
    (text, use) = read(asked(said("user", "go"), turn)).messages[1].blocks
    assert text == Text("I will look.")
    assert isinstance(use, ToolUse)
    assert len(read(asked(said("user", "one", "two"))).messages[0].blocks) == 2


def test_a_recorded_call_at_vertex_is_one_of_this_api() -> None:
    path = "/v1beta1/projects/p/locations/l/publishers/google/models/g:generateContent"
    assert not hosts.is_foreign(RECORD, path, HELLO)
    assert RECORD.dialect_at("us-east1-aiplatform.googleapis.com") == "vertex"
    head, _ = post(path)
    assert head.status == 200
