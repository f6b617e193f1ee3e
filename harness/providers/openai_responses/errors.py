"""Errors: the envelope of this API, written and read without trust.

The core's error has no param; `ParameterError` has that of our own refusals. A stream has two error
shapes: flat in the event itself, and nested with the envelope in it.
"""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared import openai
from harness.providers.shared.error_words import ErrorTable
from harness.providers.shared.openai import ParameterError

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "requests": 429,
    "tokens": 429,
    "server_error": 500,
    "api_error": 500,
    "service_unavailable_error": 503,
}
"""The status that goes with an error's type."""

WORDS = ErrorTable(openai.ERROR_WORDS, (__package__, "error_words.tsv"), error=ParameterError)
own = WORDS.own

_CODES = {
    "insufficient_quota": "insufficient_quota",
    "requests": "rate_limit_exceeded",
    "tokens": "rate_limit_exceeded",
}
"""The code that goes with an error's type, where one does."""


def envelope(error: ApiError) -> dict[str, Json]:
    """The body of an error that is in the provider's words (`own`)."""
    param = error.param or None if isinstance(error, ParameterError) else None
    code = error.code or (None if isinstance(error, ParameterError) else _CODES.get(error.type))
    return {"error": {"message": error.message, "type": error.type, "param": param, "code": code}}


def error_of(value: Json, status: int | None = None) -> ApiError:
    """The error in an envelope or a response; `status` None takes the usual one of its type."""
    error = value if isinstance(value, dict) else {"message": value}
    code, message = (str(error.get(name) or "") for name in ("code", "message"))
    kind = str(error.get("type") or code)
    return ApiError(_STATUS.get(kind, 0) if status is None else status, kind, message, code=code)


def flat_error(event: dict[str, Json]) -> ApiError:
    """The error of a flat event, whose type is only that of the event: its code says more."""
    return error_of({name: event.get(name) for name in ("code", "message")}, 200)
