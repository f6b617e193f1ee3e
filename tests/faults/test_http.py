from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.plans import Answer, ApiError, Head, Plan, Reply, Send
from harness.faults import http
from tests.faults.world import bend

PLAN: Plan = (Answer(Reply()),)


def error(**settings: Any) -> ApiError:
    (step,) = bend(http.status, PLAN, **settings)
    assert isinstance(step, Answer)
    assert isinstance(step.value, ApiError)
    return step.value


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (408, "invalid_request_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
def test_a_status_has_its_type(status: int, kind: str) -> None:
    assert (error(status=status).status, error(status=status).type) == (status, kind)


def test_words_and_type_may_be_given() -> None:
    assert error(message="no", type="mine") == ApiError(529, "mine", "no")
    assert error().message == "Overloaded error"


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        ({}, {}),
        ({"retry_after": 0}, {"retry-after": "0"}),
        ({"retry_after": 1.5}, {"retry-after": "1.5"}),
        (
            {"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"},
            {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"},
        ),
        ({"retry_after": 2, "firing": 3}, {"retry-after": "8"}),
        ({"retry_after": "2", "firing": 3}, {"retry-after": "2"}),
        ({"should_retry": False}, {"x-should-retry": "false"}),
        ({"should_retry": True}, {"x-should-retry": "true"}),
    ],
)
def test_headers_that_steer_retries(settings: dict[str, Any], headers: dict[str, str]) -> None:
    assert error(**settings).headers == headers


@pytest.mark.parametrize("seam", ["model", "tool"])
def test_a_proxy_says_it_in_html(seam: Any) -> None:
    plan = bend(http.status, PLAN, seam=seam, status=413, message="Too large", page=True)
    assert plan == (
        Send(
            b"<html><body><h1>413 Too large</h1></body></html>",
            Head(413, {"content-type": "text/html"}),
        ),
    )


@pytest.mark.parametrize("seam", ["tool", "outbox"])
def test_a_seam_without_a_wire_answers_json(seam: Any) -> None:
    plan = bend(http.status, PLAN, seam=seam, status=503, retry_after=1)
    head = Head(503, {"content-type": "application/json", "retry-after": "1"})
    assert plan == (Send(msgspec.json.encode({"error": "Api error"}), head),)
