"""Answers, written and read back: plain, as events, as a list; blocked prompts and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.draws import Draws
from harness.core.values.messages import Opaque, Text, Thinking, ToolUse
from harness.core.values.plans import ApiError, Recorded, Reply, Send
from tests.providers.anthropic.strategies import objects, texts, words
from tests.providers.gemini.bodies import WIRE, asked, read, said

WAYS = {
    "plain": ("generateContent", ""),
    "events": ("streamGenerateContent", "alt=sse"),
    "list": ("streamGenerateContent", ""),
}
of_each_way = pytest.mark.parametrize("way", WAYS)


def written(value: Reply | ApiError | Recorded, way: str = "plain") -> tuple[Send, ...]:
    """The value as the wire writes it."""
    method, query = WAYS[way]
    reading = read(asked(said("user", "hi")), "gemini-x", method, query=query)
    return WIRE.write(value, reading, "main/model#1", Draws(7))


def body_of(sends: tuple[Send, ...]) -> bytes:
    return b"".join(send.data for send in sends)


def kind_of(sends: tuple[Send, ...]) -> str:
    assert sends[0].head is not None
    return sends[0].head.headers["content-type"]


def shown(value: Reply | ApiError, way: str = "plain") -> Any:
    """The JSON of an answer; of events, a list."""
    sends = written(value, way)
    if way == "events":
        lines = body_of(sends).decode().split("\r\n\r\n")
        return [json.loads(line.removeprefix("data: ")) for line in lines if line]
    return json.loads(body_of(sends))


blocks = st.lists(
    st.builds(Text, texts)
    | st.builds(Thinking, texts)
    | st.builds(ToolUse, st.sampled_from("ab"), words, objects)
    | st.just(Opaque("inlineData", {"inlineData": {"mimeType": "image/png", "data": ""}})),
    max_size=4,
)
stops = st.sampled_from(["end_turn", "max_tokens", "MALFORMED_FUNCTION_CALL"])


@of_each_way
@given(blocks, stops)
def test_an_answer_comes_back_as_it_was_said(way: str, said: list[Any], stop: str) -> None:
    whole = [b for n, b in enumerate(said) if n == 0 or type(b) is not type(said[n - 1])]
    calls = any(isinstance(block, ToolUse) for block in whole)
    stop = "tool_use" if calls and stop == "end_turn" else stop
    sends = written(Reply(tuple(whole), stop), way)
    parsed = WIRE.parse(body_of(sends), kind_of(sends))
    assert parsed.message is not None
    assert list(parsed.message.blocks) == whole
    assert (parsed.stop, parsed.complete, parsed.error) == (stop, True, None)
    assert parsed.usage["input_tokens"] > 0


@of_each_way
def test_an_answer_that_is_cut_is_not_whole(way: str) -> None:
    sends = written(Reply((Text("one two"), ToolUse("a", "f", {})), "tool_use"), way)
    kept = (
        sends[:-1] if way == "events" else (Send(sends[0].data[:-3], sends[0].head), *sends[1:-1])
    )
    assert not WIRE.parse(body_of(kept), kind_of(sends)).complete


def test_the_words_of_the_api() -> None:
    answer = shown(Reply((Text("hi"), ToolUse("a", "f", {"x": 1})), "tool_use"))
    (candidate,) = answer["candidates"]
    call = {"functionCall": {"name": "f", "args": {"x": 1}, "id": "a"}}
    assert candidate == {
        "content": {"parts": [{"text": "hi"}, call], "role": "model"},
        "finishReason": "STOP",
        "index": 0,
    }
    assert answer["modelVersion"] == "gemini-x"
    assert answer["usageMetadata"].keys() == {
        "promptTokenCount",
        "candidatesTokenCount",
        "totalTokenCount",
        "promptTokensDetails",
    }


@pytest.mark.parametrize(
    ("stop", "word"),
    [
        ("max_tokens", "MAX_TOKENS"),
        ("refusal", "SAFETY"),
        ("RECITATION", "RECITATION"),
        ("tool_use", "MALFORMED_FUNCTION_CALL"),  # `STOP` would end a whole answer
    ],
)
def test_why_an_answer_stops(stop: str, word: str) -> None:
    (candidate,) = shown(Reply((Text("hm"),), stop))["candidates"]
    assert candidate["finishReason"] == word


@of_each_way
def test_a_refusal_without_a_word_is_a_blocked_prompt(way: str) -> None:
    answer = shown(Reply((), "refusal"), way)
    (answer,) = answer if isinstance(answer, list) else [answer]
    assert answer["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}
    assert "candidates" not in answer
    sends = written(Reply((), "refusal"), way)
    parsed = WIRE.parse(body_of(sends), kind_of(sends))
    assert (parsed.stop, parsed.complete) == ("refusal", True)


def test_a_stream_says_text_in_pieces_and_its_reason_last() -> None:
    *pieces, last = shown(Reply((Text("x" * 100),), "end_turn"), "events")
    said = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in pieces]
    assert len(said) == 7
    assert "".join(said) == "x" * 100
    assert [c for c in pieces if "finishReason" in c["candidates"][0]] == []
    assert last["candidates"][0]["finishReason"] == "STOP"


ERRORS = [
    (ApiError(429, "rate_limit_error", "m"), 429, "RESOURCE_EXHAUSTED"),
    (ApiError(529, "overloaded_error", "m"), 503, "UNAVAILABLE"),
    (ApiError(503, "overloaded_error", "m"), 503, "UNAVAILABLE"),
    (ApiError(500, "api_error", "m"), 500, "INTERNAL"),
    (ApiError(400, "invalid_request_error", "m"), 400, "INVALID_ARGUMENT"),
    (ApiError(401, "authentication_error", "m"), 401, "UNAUTHENTICATED"),
    (ApiError(404, "not_found_error", "m"), 404, "NOT_FOUND"),
    (ApiError(418, "FAILED_PRECONDITION", "m"), 418, "FAILED_PRECONDITION"),
]


@pytest.mark.parametrize(("error", "status", "word"), ERRORS)
@of_each_way
def test_an_error_in_the_shape_of_the_api(
    way: str, error: ApiError, status: int, word: str
) -> None:
    sends = written(error, way)
    assert sends[0].head is not None
    assert sends[0].head.status == status
    body = json.loads(body_of(sends))
    said = (body[0] if way == "list" else body)["error"]
    assert (said["code"], said["message"], said["status"]) == (status, "m", word)
    parsed = WIRE.parse(body_of(sends), kind_of(sends))
    assert parsed.error is not None
    assert (parsed.error.status, parsed.error.type) == (status, word)


def test_a_wait_is_told_in_the_details() -> None:
    error = ApiError(429, "", "slow down", {"Retry-After": "36.4"}, code="PerDay")
    quota, retry = shown(error)["error"]["details"]
    assert quota["@type"] == "type.googleapis.com/google.rpc.QuotaFailure"
    assert quota["violations"][0]["quotaId"] == "PerDay"
    assert retry == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36.4s"}


def test_a_refused_field_is_told_in_the_details() -> None:
    (found,) = read(asked({"role": "user", "parts": [{"text": "a"}], "name": "bob"})).violations
    (detail,) = shown(found.error)["error"]["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert detail["fieldViolations"][0]["field"] == "contents[0]"


def test_a_recorded_answer_is_sent_as_it_was() -> None:
    assert body_of(written(Recorded(200, {"content-type": "x"}, b"raw"))) == b"raw"
