"""Which answers refuse a request for its size: by a status, a code, or a provider's words."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.events import Answered
from harness.core.transition.faulty_answer import is_too_large
from harness.core.values.messages import Text
from harness.core.values.plans import ApiError, Close, Head, Plan, Reply, Send, Wait
from harness.providers import by_name
from tests.core import world

ZERO = {"input_tokens": 0, "output_tokens": 0}
INVALID = "invalid_request_error"
EVENT = (
    b'event: error\ndata: {"type": "error", "error": {"type": "invalid_request_error", '
    b'"message": "prompt is too long: 208380 tokens > 200000 maximum"}}\n\n'
)
STREAM = Head(200, {"content-type": "text/event-stream"})


def said(value: Any, *, wire: str = "anthropic", **known: Any) -> bool:
    """Whether the answer says that the request is too large."""
    return is_too_large(by_name(wire), value, **known)


def sent(plan: Plan, stage: str) -> bool:
    """Whether a run notes that of an answer whose plan a fault has made into this one."""
    run = world.run(fault={"kind": "http.status"})
    fault = run.faults[0]
    fault.function, fault.stage = (lambda moment, former, **settings: plan), stage  # type: ignore[assignment]
    world.ask(run, stream=True)
    return next(e for e in run.history.events if isinstance(e, Answered)).too_large


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
    assert sent((Send(b"<html>", Head(413, {})),), "value")
    assert sent((Send(b"<html>", Head(413, {})),), "bytes")


def test_an_error_event_in_a_stream() -> None:
    assert sent((Send(b": hi\n\n", STREAM), Wait(1), Send(EVENT), Close()), "bytes")
    assert sent((Send(b": hi\n\n", STREAM), Wait(1), Send(EVENT), Close()), "value")


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
    assert not said(Reply(), heard=error)


def test_a_stream_that_ends_otherwise_says_nothing_of_size() -> None:
    overloaded = EVENT.replace(b"prompt is too long: 208380 tokens > 200000 maximum", b"Overloaded")
    assert not sent((Send(overloaded, STREAM), Close()), "bytes")
    assert not sent((Close(),), "bytes")
    assert not sent((Send(b"\xff", Head(502, {})),), "bytes")


def test_a_value_is_asked_itself_and_never_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    run = world.run(fault={"kind": "model.whitespace_text"})
    monkeypatch.setattr(run.models.at("/v1/messages").wire, "parse", None, raising=False)
    world.ask(run)
    answered = next(e for e in run.history.events if isinstance(e, Answered))
    assert answered.faults == ("model.whitespace_text",)
    assert not answered.too_large
