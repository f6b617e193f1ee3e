"""Errors in place of a reply: status, envelope and code, and what the official client raises."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from harness.core.values.plans import ApiError
from tests.providers.openai_chat.sdk import ASK, Mouth, written


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("rate_limit_error", 429, ("requests", "rate_limit_exceeded")),
        ("billing_error", 402, ("insufficient_quota", "insufficient_quota")),
        ("authentication_error", 401, ("invalid_request_error", "invalid_api_key")),
        ("not_found_error", 404, ("invalid_request_error", "model_not_found")),
        ("overloaded_error", 503, ("service_unavailable_error", "server_is_overloaded")),
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
