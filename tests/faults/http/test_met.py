"""What the real SDKs' clients meet in process, fault by fault."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from harness.providers import by_name
from tests.faults.asking import Met, ask

ANTHROPIC, CHAT, RESPONSES = WIRES = ("anthropic", "openai-chat", "openai-responses")
OPENAI = (CHAT, RESPONSES)
WHOLE = {
    (wire, stream): ask("", wire=wire, stream=stream).words
    for wire in WIRES
    for stream in (False, True)
}

REFUSED: dict[str, tuple[int, str]] = {
    "status": (529, "overloaded_error"),
    "key_rotated": (401, "authentication_error"),
    "permission_revoked": (403, "permission_error"),
    "payment_required": (402, "billing_error"),
    "credit_too_low": (400, "invalid_request_error"),
    "spend_limit": (429, "rate_limit_error"),
    "model_gone": (404, "not_found_error"),
    "invalid_request": (400, "invalid_request_error"),
    "prompt_too_long": (400, "invalid_request_error"),
    "too_large": (413, "request_too_large"),
    "request_timeout": (408, "timeout_error"),
    "conflict": (409, "conflict_error"),
    "rate_limited_without_retry_after": (429, "rate_limit_error"),
    "retry_after": (429, "rate_limit_error"),
    "retry_after_ms": (429, "rate_limit_error"),
    "server_error": (500, "api_error"),
    "overloaded_burst": (529, "overloaded_error"),
    "overloaded": (529, "overloaded_error"),
    "should_retry_true_on_400": (400, "invalid_request_error"),
    "should_retry_false_on_529": (529, "overloaded_error"),
}
"""Status, and the type of the Anthropic API; a burst of all calls strikes the first one too."""

ELSEWHERE: dict[tuple[str, str], int] = {
    **{
        (name, wire): 503 for wire in OPENAI for name, (asked, _) in REFUSED.items() if asked == 529
    },
    **{("payment_required", wire): 429 for wire in OPENAI},
    ("model_gone", RESPONSES): 400,
    ("conflict", RESPONSES): 400,
}
"""Statuses that another provider sends for the same cause."""

ALL_OF_A_BURST = {"overloaded_burst": {"failures": 5}}


def body(met: Met) -> Any:
    return getattr(met.error, "body", None)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", REFUSED)
def test_an_error_has_its_status_type_and_words(name: str, wire: str, stream: bool) -> None:
    met = ask(f"http.{name}", ALL_OF_A_BURST.get(name), wire=wire, stream=stream)
    status, kind = REFUSED[name]
    assert met.fired == (f"http.{name}",)
    assert getattr(met.error, "status_code", None) == ELSEWHERE.get((name, wire), status)
    error = body(met)["error"] if wire == ANTHROPIC else body(met)
    assert error["message"]
    if wire == ANTHROPIC:
        assert error["type"] == kind
    assert met.history.past.calls["model"] == 1


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("key_rotated", "invalid_api_key"),
        ("spend_limit", "insufficient_quota"),
        ("overloaded", "server_is_overloaded"),
        ("prompt_too_long", "context_length_exceeded"),
        ("retry_after", "rate_limit_exceeded"),
    ],
)
@pytest.mark.parametrize("wire", OPENAI)
def test_openai_says_it_in_its_own_code(name: str, code: str | None, wire: str) -> None:
    assert body(ask(f"http.{name}", wire=wire))["code"] == code


def test_a_spend_limit_has_its_code_in_the_details() -> None:
    details = body(ask("http.spend_limit"))["error"]["details"]
    assert details == {"error_code": "enforced_spend_limit_reached"}


@pytest.mark.parametrize(("wait_ms", "longer"), [(250, "30"), (44_100, "45")])
def test_who_knows_retry_after_alone_waits_as_long_as_was_asked_for(
    wait_ms: int, longer: str
) -> None:
    met = ask("http.retry_after_ms", {"retry_after_ms": wait_ms})
    assert isinstance(met.error, anthropic.APIStatusError)
    headers = met.error.response.headers
    assert (headers["retry-after-ms"], headers["retry-after"]) == (str(wait_ms), longer)


def test_model_gone_names_the_model() -> None:
    assert body(ask("http.model_gone"))["error"]["message"] == "model: m"


def test_prompt_too_long_says_both_numbers() -> None:
    met = ask("http.prompt_too_long", {"tokens": 7, "window": 5})
    assert body(met)["error"]["message"] == "prompt is too long: 7 tokens > 5 maximum"


@pytest.mark.parametrize(
    ("wire", "rule"), [(wire, rule) for wire in WIRES for rule in by_name(wire).refusals()]
)
def test_every_rule_of_a_wire_can_be_forced_by_invalid_request(wire: str, rule: str) -> None:
    met = ask("http.invalid_request", {"rule": rule}, wire=wire)
    error = body(met)["error"] if wire == ANTHROPIC else body(met)
    known = by_name(wire).refusals()[rule]
    assert getattr(met.error, "status_code", None) == known.status
    assert error["type"] == known.type
    assert "{" not in error["message"].replace('{"type": "create"}', "").replace("{1,", "")
    assert error["message"][:6] == known.message[:6] or "{" in known.message[:6]


def test_invalid_request_takes_words_of_its_own() -> None:
    met = ask("http.invalid_request", {"message": "messages: no"})
    assert body(met)["error"]["message"] == "messages: no"


@pytest.mark.parametrize("wire", WIRES)
def test_too_large_page_has_no_type(wire: str) -> None:
    met = ask("http.too_large_page", wire=wire)
    assert met.fired == ("http.too_large_page",)
    assert getattr(met.error, "status_code", None) == 413
    assert getattr(met.error, "type", None) is None


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", ["empty_body", "malformed_body"])
def test_a_success_without_a_body_is_no_json(name: str, wire: str) -> None:
    met = ask(f"http.{name}", wire=wire, stream=False)
    assert met.fired == (f"http.{name}",)
    assert met.words.startswith("json.JSONDecodeError")


@pytest.mark.parametrize("name", ["empty_body", "malformed_body", "error_envelope_under_200"])
def test_in_place_of_a_stream_it_is_an_error_without_words(name: str) -> None:
    assert ask(f"http.{name}").words == "AssertionError"


@pytest.mark.parametrize(
    ("wire", "words"),
    [(ANTHROPIC, "None: nothing"), (CHAT, "no choices"), (RESPONSES, "None: ")],
)
def test_error_envelope_under_200_parses_to_a_hollow_message(wire: str, words: str) -> None:
    met = ask("http.error_envelope_under_200", wire=wire, stream=False)
    assert met.fired == ("http.error_envelope_under_200",)
    assert met.words == words


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize(
    ("wire", "words"),
    [(ANTHROPIC, "end_turn: nothing"), (CHAT, "stop: None"), (RESPONSES, "completed: ")],
)
def test_null_content_is_a_success(wire: str, words: str, stream: bool) -> None:
    met = ask("http.null_content", wire=wire, stream=stream)
    assert met.fired == ("http.null_content",)
    assert met.words == words


@pytest.mark.parametrize("wire", WIRES)
def test_missing_usage_is_none_in_a_plain_answer(wire: str) -> None:
    met = ask("http.missing_usage", wire=wire, stream=False)
    assert (met.fired, met.words) == (("http.missing_usage",), WHOLE[wire, False])
    assert met.message.usage is None


def test_missing_usage_in_a_stream_is_a_bare_attribute_error() -> None:
    assert ask("http.missing_usage").words.startswith("AttributeError: 'NoneType' object has no")


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_unknown_stop_is_passed_through(stream: bool) -> None:
    met = ask("http.unknown_stop", stream=stream)
    whole = WHOLE[ANTHROPIC, stream]
    assert met.fired == ("http.unknown_stop",)
    assert met.words == whole.replace("tool_use:", "paused_for_review:", 1)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize(
    ("name", "kind"), [("unknown_block", "search_brief"), ("fallback_block", "fallback")]
)
def test_a_block_more_comes_first(name: str, kind: str, stream: bool) -> None:
    met = ask(f"http.{name}", stream=stream)
    whole = WHOLE[ANTHROPIC, stream]
    assert met.fired == (f"http.{name}",)
    assert met.words == whole.replace("tool_use: ", f"tool_use: {kind}; ", 1)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("wire", WIRES)
def test_model_echo_differs(wire: str, stream: bool) -> None:
    met = ask("http.model_echo_differs", {"model": "other"}, wire=wire, stream=stream)
    assert (met.fired, met.words) == (("http.model_echo_differs",), WHOLE[wire, stream])
    assert met.message.model == "other"


@pytest.mark.parametrize("wire", WIRES)
def test_count_tokens_disagrees(wire: str) -> None:
    plain, scaled = (
        ask(kind, settings, wire=wire, stream=False)
        for kind, settings in (("", {}), ("http.count_tokens_disagrees", {"factor": 1.5}))
    )
    name = "prompt_tokens" if wire == CHAT else "input_tokens"
    counted = getattr(plain.message.usage, name)
    assert scaled.fired == ("http.count_tokens_disagrees",)
    assert getattr(scaled.message.usage, name) == round(counted * 1.5) > counted
