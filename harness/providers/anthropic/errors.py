"""The errors of the API as data: status, type and code, the SDK's class for it, and if it retries.

An agent loop meets these; the other hundred codes belong to endpoints that it does not use. Class
and retries are what the official Python SDK 2.11 does, measured, and its retries go by the status
alone. So it retries the 429 of a spend limit too, which cannot succeed before the month ends.
"""

from __future__ import annotations

import msgspec


class ErrorRow(msgspec.Struct, frozen=True):
    """One error. `type` is "" where the answer comes from a proxy and has no envelope."""

    status: int
    type: str
    sdk_class: str
    retried: bool
    code: str = ""


_INVALID = "invalid_request_error"


def _coded(status: int, kind: str, *codes: str, retried: bool = False) -> tuple[ErrorRow, ...]:
    """Errors that have a class of their own, named after the code."""
    return tuple(
        ErrorRow(status, kind, f"{code.title().replace('_', '')}Error", retried, code)
        for code in codes
    )


ERRORS = (
    ErrorRow(400, _INVALID, "BadRequestError", retried=False),
    ErrorRow(401, "authentication_error", "AuthenticationError", retried=False),
    ErrorRow(402, "billing_error", "PaymentRequiredError", retried=False),
    ErrorRow(403, "permission_error", "PermissionDeniedError", retried=False),
    ErrorRow(404, "not_found_error", "NotFoundError", retried=False),
    ErrorRow(409, "conflict_error", "ConflictError", retried=True),
    ErrorRow(412, "memory_precondition_failed_error", "PreconditionFailedError", retried=False),
    ErrorRow(413, "request_too_large", "ContentTooLargeError", retried=False),
    ErrorRow(422, _INVALID, "UnprocessableEntityError", retried=False),
    ErrorRow(429, "rate_limit_error", "RateLimitError", retried=True),
    ErrorRow(431, "", "RequestHeaderFieldsTooLargeError", retried=False),
    ErrorRow(499, "", "ClientClosedRequestError", retried=False),
    ErrorRow(500, "api_error", "InternalServerError", retried=True),
    ErrorRow(501, "", "HTTPNotImplementedError", retried=True),
    ErrorRow(502, "", "InternalServerError", retried=True),
    ErrorRow(503, "", "ServiceUnavailableError", retried=True),
    ErrorRow(504, "timeout_error", "GatewayTimeoutError", retried=True),
    ErrorRow(408, "timeout_error", "RequestTimeoutError", retried=True),
    ErrorRow(529, "overloaded_error", "OverloadedError", retried=True),
    *_coded(404, "not_found_error", "thread_not_found", "file_expired"),
    *_coded(
        *(400, _INVALID),
        *("thread_already_continued", "thread_continue_in_flight"),
        *("thread_fingerprint_mismatch", "thread_unsupported_request"),
        *("compaction_nothing_to_summarize", "compaction_incomplete_turn"),
        *("compaction_block_misplaced", "compaction_block_ambiguous"),
        *("compaction_content_mismatch", "compaction_signature_invalid"),
        *("compaction_tool_changes_mismatch", "compaction_too_many_tool_references"),
        *("tool_name_conflict", "tool_reference_unresolved", "available_tools_limit_exceeded"),
        *("request_body_encoding_invalid", "request_body_encoding_unsupported"),
    ),
    *_coded(413, "request_too_large", "request_body_too_large_after_decoding"),
    *_coded(
        *(429, "rate_limit_error"),
        *("enforced_spend_limit_reached", "contract_spend_limit_reached", "ramp_limit_exceeded"),
        retried=True,
    ),
    *_coded(529, "overloaded_error", "compaction_unavailable", retried=True),
)
"""Every error, the coded ones last; the first row of a type has the status that goes with it."""

STATUS = {row.type: row.status for row in reversed(ERRORS) if row.type}
"""The status that goes with an error's type."""
