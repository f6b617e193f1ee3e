"""Errors in Google's shape: code, message, status, and details that programs read.

A type of another provider becomes the word of its status. An error that asks for a wait
says it as `RetryInfo`; one of a quota names it.
"""

from __future__ import annotations

import re

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.gemini.rules import FieldError
from harness.providers.shared import json_fields as f
from harness.providers.shared.error_words import ErrorTable

_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}
_STATUS = {word: status for status, word in reversed(_WORDS.items())}
WORDS = ErrorTable((__package__, "error_words.tsv"))
own = WORDS.own

KEY_INVALID = "API_KEY_INVALID"
"""The code of a key that is refused; its status is that of a malformed request."""

_RPC = "type.googleapis.com/google.rpc."
_METRIC = "generativelanguage.googleapis.com/generate_content_requests"
_QUOTA = "GenerateRequestsPerMinutePerProjectPerModel"
_SECONDS = re.compile(r"\d+(\.\d+)?")


def envelope(error: ApiError) -> dict[str, Json]:
    """The body of an error that is in the provider's words (`own`)."""
    status = error.status if error.status >= 400 else _STATUS.get(error.type, 500)
    word = error.type if error.type.isupper() else _WORDS.get(status, "UNKNOWN")
    said: dict[str, Json] = {"code": status, "message": error.message, "status": word}
    if details := [*_details(error, word)]:
        said["details"] = details
    return {"error": said}


def _details(error: ApiError, word: str) -> list[Json]:
    details: list[Json] = []
    if isinstance(error, FieldError) and error.field:
        violation = {"field": error.field, "description": error.message}
        details.append({"@type": f"{_RPC}BadRequest", "fieldViolations": [violation]})
    if error.code == KEY_INVALID:
        service = {"service": "generativelanguage.googleapis.com"}
        reason = {"reason": KEY_INVALID, "domain": "googleapis.com", "metadata": service}
        told = {"locale": "en-US", "message": error.message}
        details += [{"@type": f"{_RPC}ErrorInfo", **reason}]
        details += [{"@type": f"{_RPC}LocalizedMessage", **told}]
    if word == "RESOURCE_EXHAUSTED":
        quota = {"quotaMetric": _METRIC, "quotaId": error.code or _QUOTA}
        details.append({"@type": f"{_RPC}QuotaFailure", "violations": [quota]})
    headers = {name.lower(): value for name, value in error.headers.items()}
    wait = headers.get("retry-after", "")
    if _SECONDS.fullmatch(wait):
        details.append({"@type": f"{_RPC}RetryInfo", "retryDelay": f"{wait}s"})
    return details


def error_of(value: Json, status: int | None = None) -> ApiError | None:
    """The error of a body, None when it holds none; a list of one is one, as streams have it."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    said = f.mapping(value).get("error")
    if not said:
        return None
    if not isinstance(said, dict):
        return ApiError(status or 0, "", str(said))
    word = f.text(said.get("status"))
    if status is None:
        status = f.whole(said.get("code")) or _STATUS.get(word, 0)
    return ApiError(status, word, f.text(said.get("message")))
