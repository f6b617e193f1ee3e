from __future__ import annotations

from typing import Any

import pytest

from harness.core.transition.too_large import TooLarge
from harness.core.values.messages import Text
from harness.core.values.plans import ApiError, Close, Head, Plan, Reply, Send, Wait
from harness.providers import by_name

ZERO = {"input_tokens": 0, "output_tokens": 0}
INVALID = "invalid_request_error"
EVENT = (
    b'event: error\ndata: {"type": "error", "error": {"type": "invalid_request_error", '
    b'"message": "prompt is too long: 208380 tokens > 200000 maximum"}}\n\n'
)
STREAM = Head(200, {"content-type": "text/event-stream"})


def said(value: Any, plan: Plan = (), *, wire: str = "anthropic", **known: bool) -> bool:
    """Whether the answer says that the request is too large."""
    return TooLarge(by_name(wire)).is_said(value, plan, **{"bent": False, **known})


@pytest.mark.parametrize(
    ("wire", "text"),
    [
        ("anthropic", "prompt is too long: 208380 tokens > 200000 maximum"),
        ("anthropic", "input length and `max_tokens` exceed context limit: 1 + 2 > 2, decrease it"),
        ("anthropic", "messages.0: image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes"),
        ("openai-chat", "This model's maximum context length is 10 tokens. However, your messages"),
        ("openai-responses", "Your input exceeds the context window of this model. Please adjust"),
    ],
)
def test_a_refusal_in_the_words_of_the_wire(wire: str, text: str) -> None:
    assert said(ApiError(400, INVALID, text), wire=wire)


def test_a_status_or_a_code_needs_no_words() -> None:
    assert said(ApiError(413, "request_too_large", ""))
    assert said(ApiError(400, INVALID, "no", code="context_length_exceeded"), wire="openai-chat")
    assert said(None, (Send(b"<html>", Head(413, {})),), bent=True)


def test_an_error_event_in_a_stream() -> None:
    assert said(Reply(), (Send(b": hi\n\n", STREAM), Wait(1), Send(EVENT), Close()), bent=True)


def test_a_message_that_a_wrapper_wrote_for_which_no_token_was_counted() -> None:
    text = (Text("Prompt is too long"),)
    assert said(Reply(text, usage=ZERO))
    assert not said(Reply(text))
    assert not said(Reply(text, usage=ZERO), cut=True)
    assert not said(Reply(text, usage={"input_tokens": 0, "output_tokens": 9}))
    assert not said(Reply((Text("You asked what `prompt is too long` means."),), usage=ZERO))


@pytest.mark.parametrize(
    "error",
    [
        ApiError(429, "rate_limit_error", "This request would exceed your tokens per minute."),
        ApiError(400, INVALID, "max_tokens: 9 > 8, which is the maximum allowed number"),
        ApiError(529, "overloaded_error", "Overloaded"),
    ],
)
def test_another_refusal_is_none_of_size(error: ApiError) -> None:
    assert not said(error)


def test_a_stream_that_ends_otherwise_says_nothing_of_size() -> None:
    overloaded = EVENT.replace(b"prompt is too long: 208380 tokens > 200000 maximum", b"Overloaded")
    assert not said(Reply(), (Send(overloaded, STREAM), Close()), bent=True)
    assert not said(None, (Close(),), bent=True)
    assert not said(None, (Send(b"\xff", Head(502, {})),), bent=True)
