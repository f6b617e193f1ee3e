"""The table of errors, row by row, as the official client meets them; and the five overflows."""

from __future__ import annotations

import anthropic
import pytest

from harness.core.values.messages import Text
from harness.core.values.plans import ApiError, Recorded, Reply
from harness.providers.anthropic.record import STATUS, TABLE, violation
from harness.providers.anthropic.reply import EVENT_STREAM, LIMITS, USED_UP, error_envelope
from harness.providers.anthropic.response import parse
from harness.providers.shared.codec import encode
from tests.http_library import http, since_2
from tests.providers.anthropic.errors_table import ERRORS, ErrorRow
from tests.providers.anthropic.sdk import Mouth, written
from tests.providers.sends import joined

HTML = b"<html><body><h1>413 Request Entity Too Large</h1></body></html>"


@since_2
@pytest.mark.parametrize("row", ERRORS, ids=lambda row: f"{row.status}-{row.code or row.type}")
def test_the_sdk_meets_each_error_as_the_table_says(row: ErrorRow) -> None:
    mouth = Mouth()
    error = ApiError(row.status, row.type, "text", code=row.code)
    with pytest.raises(anthropic.APIStatusError) as met:
        mouth.plain(error if row.type else Recorded(row.status, {}, b"<html></html>"))
    assert type(met.value).__name__ == row.sdk_class
    assert met.value.status_code == row.status
    assert (met.value.type or "") == row.type
    if row.code:
        assert met.value.body["error"]["details"] == {"error_code": row.code}  # type: ignore[index]
    answer = http.Response(row.status, request=http.Request("POST", "http://fake.invalid"))
    assert mouth.client._should_retry(answer) is row.retried


@pytest.mark.parametrize("row", ERRORS, ids=lambda row: f"{row.status}-{row.code or row.type}")
def test_an_error_reads_back_as_it_was_written(row: ErrorRow) -> None:
    error = ApiError(row.status, row.type, "text", code=row.code)
    parsed = parse(joined(written(error)), "application/json").error
    assert parsed is not None
    assert (parsed.type, parsed.message, parsed.code) == (row.type, "text", row.code)
    if STATUS.get(row.type) == row.status:
        assert parsed.status == row.status


def test_types_codes_and_rules_agree_with_the_table() -> None:
    assert STATUS["invalid_request_error"] == 400
    assert STATUS["timeout_error"] == 504
    coded = {(rule.status, rule.type, rule.code) for rule in TABLE.rules.values() if rule.code}
    assert coded <= {(row.status, row.type, row.code) for row in ERRORS}


def test_an_error_without_a_code_has_no_details() -> None:
    assert "details" not in error_envelope(ApiError(400, "t", "m"), "req_1")["error"]


@pytest.mark.parametrize("status", [200, 400, 429, 529])
@pytest.mark.parametrize("stream", [False, True])
def test_every_answer_has_its_id_and_the_rate_limits(status: int, stream: bool) -> None:
    value = Reply((Text("a"),)) if status == 200 else ApiError(status, "t", "m")
    head = written(value, stream)[0].head
    assert head is not None
    assert head.headers["request-id"].startswith("req_")
    limits = USED_UP if status == 429 else LIMITS
    assert limits.items() <= head.headers.items()
    assert len(limits) == 6
    assert head.headers["anthropic-ratelimit-requests-remaining"] == (
        "0" if status == 429 else "3999"
    )


def test_headers_of_an_error_win() -> None:
    more = {"Anthropic-Ratelimit-Requests-Limit": "1", "retry-after": "-1"}
    head = written(ApiError(429, "rate_limit_error", "m", more))[0].head
    assert head is not None
    assert head.headers["anthropic-ratelimit-requests-limit"] == "1"
    assert head.headers["retry-after"] == "-1"


def test_overflow_as_a_400() -> None:
    said = [
        violation("V23", tokens=9, window=5),
        violation("V24", tokens=3, max_tokens=4, window=5),
    ]
    for found in said:
        with pytest.raises(anthropic.BadRequestError) as met:
            Mouth().plain(found.error)
        assert met.value.body["error"]["message"] == found.error.message  # type: ignore[index]


def test_overflow_as_a_413_of_the_api_and_of_the_proxy_before_it() -> None:
    for value, kind in (
        (
            ApiError(413, "request_too_large", "Request exceeds the maximum size"),
            "request_too_large",
        ),
        (Recorded(413, {"content-type": "text/html"}, HTML), None),
    ):
        with pytest.raises(anthropic.APIStatusError) as met:
            Mouth().plain(value)
        assert (met.value.status_code, met.value.type) == (413, kind)


@pytest.mark.parametrize("ask", [Mouth.plain, Mouth.streamed])
def test_overflow_as_a_truncated_success(ask: object) -> None:
    assert callable(ask)
    message = ask(Mouth(), Reply((Text("so far"),), "model_context_window_exceeded"))
    assert message.stop_reason == "model_context_window_exceeded"
    assert message.content[0].text == "so far"


def test_overflow_as_an_event_of_a_stream_that_began_well() -> None:
    error = violation("V23", tokens=9, window=5).error
    begun = written(Reply((Text("a"),)), stream=True)[0].data
    event = b"event: error\ndata: %b\n\n" % encode(error_envelope(error, "req_1"))
    with pytest.raises(anthropic.APIStatusError) as met:
        Mouth().streamed(Recorded(200, {"content-type": EVENT_STREAM}, begun + event))
    assert (met.value.status_code, met.value.type) == (200, "invalid_request_error")


@pytest.mark.parametrize("ask", [Mouth.plain, Mouth.streamed])
def test_overflow_as_a_message_of_a_wrapper(ask: object) -> None:
    assert callable(ask)
    nothing = dict.fromkeys(("input_tokens", "output_tokens"), 0)
    words = (Text("Prompt is too long"),)
    message = ask(Mouth(), Reply(words, "stop_sequence", nothing, {"model": "<synthetic>"}))
    assert message.content[0].text == "Prompt is too long"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (0, 0)
    assert (message.model, message.stop_reason) == ("<synthetic>", "stop_sequence")
