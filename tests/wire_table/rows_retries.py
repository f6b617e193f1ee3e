"""What is asked again: how many requests the Anthropic SDK makes of a failure, and its waits."""

from __future__ import annotations

from tests.wire_table.row import IN_PROCESS, Row


def _retried(status: int, name: str) -> Row:
    says = f"3 requests, waits of 0.5, 1 s: anthropic.{name}"
    settings = {"status": status}
    return Row(
        f"status {status}", says, "http.status", settings, how="retries", transports=IN_PROCESS
    )


def _refused(status: int, name: str) -> Row:
    says, settings = f"1 request: anthropic.{name}", {"status": status}
    return Row(
        f"status {status}", says, "http.status", settings, how="retries", transports=IN_PROCESS
    )


def _after(value: str | float, waits: str) -> Row:
    says = f"3 requests, waits of {waits} s: anthropic.RateLimitError(429, rate_limit_error)"
    settings = {"retry_after": value}
    what = f"429 with retry-after: {value}"
    return Row(what, says, "http.retry_after", settings, how="retries", transports=IN_PROCESS)


RETRIES = (
    _refused(400, "BadRequestError(400, invalid_request_error)"),
    _refused(401, "AuthenticationError(401, authentication_error)"),
    _refused(402, "PaymentRequiredError(402, billing_error)"),
    _refused(413, "ContentTooLargeError(413, request_too_large)"),
    _retried(409, "ConflictError(409, conflict_error)"),
    _retried(429, "RateLimitError(429, rate_limit_error)"),
    _retried(500, "InternalServerError(500, api_error)"),
    _retried(504, "GatewayTimeoutError(504, timeout_error)"),
    _retried(529, "OverloadedError(529, overloaded_error)"),
    Row(
        "status 400 with x-should-retry: true",
        "3 requests, waits of 0.5, 1 s: anthropic.BadRequestError(400, invalid_request_error)",
        "http.status",
        {"status": 400, "should_retry": True},
        how="retries",
        transports=IN_PROCESS,
    ),
    Row(
        "status 529 with x-should-retry: false",
        "1 request: anthropic.OverloadedError(529, overloaded_error)",
        "http.status",
        {"status": 529, "should_retry": False},
        how="retries",
        transports=IN_PROCESS,
    ),
    _after(7, "7, 7"),
    _after(86400, "86400, 86400"),
    _after(0, "0.5, 1"),
    _after(-5, "0.5, 1"),
    _after("nan", "0.5, 1"),
    _after("soon", "0.5, 1"),
    _after("Wed, 21 Oct 2015 07:28:00 GMT", "0.5, 1"),
    Row(
        "429 with retry-after-ms: 1500 and retry-after: 30",
        "3 requests, waits of 1.5, 1.5 s: anthropic.RateLimitError(429, rate_limit_error)",
        "http.retry_after_ms",
        {"retry_after_ms": 1500},
        how="retries",
        transports=IN_PROCESS,
    ),
    Row(
        "status 408",
        "3 requests, waits of 0.5, 1 s: anthropic.RequestTimeoutError(408, timeout_error)",
        "http.request_timeout",
        how="retries",
        transports=IN_PROCESS,
    ),
    Row(
        "a plain body that says it is gzip",
        "3 requests, waits of 0.5, 1 s: anthropic.APIConnectionError",
        "transport.plain_body_as_gzip",
        how="retries",
        transports=IN_PROCESS,
    ),
    Row(
        "reset before the head of an answer",
        "3 requests, waits of 0.5, 1 s: anthropic.APIConnectionError",
        "transport.reset_before_headers",
        how="retries",
        transports=IN_PROCESS,
    ),
    Row(
        "a plain body that stops short",
        "3 requests, waits of 0.5, 1 s: anthropic.APIConnectionError",
        "transport.content_length_too_large",
        how="retries",
        transports=IN_PROCESS,
    ),
)
