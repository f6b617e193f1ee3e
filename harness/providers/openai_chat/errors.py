"""Errors in the API's envelope and words.

`type` is coarse; programs look at `code`. `param` names the field at fault.
"""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.shared import openai
from harness.providers.shared.error_words import ErrorTable
from harness.providers.shared.openai import ParameterError

INVALID = "invalid_request_error"

WORDS = ErrorTable(openai.ERROR_WORDS, error=ParameterError)
own = WORDS.own

_STATUS = {
    "invalid_api_key": 401,
    "model_not_found": 404,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "requests": 429,
    "tokens": 429,
    INVALID: 400,
    "server_error": 500,
    "service_unavailable_error": 503,
}
"""The status that goes with a code or, without one, with a type."""

_WINDOW = "maximum context length"


def envelope(error: ApiError) -> dict[str, Json]:
    """The body of an error that is in the provider's words (`own`)."""
    param = error.param if isinstance(error, ParameterError) else ""
    code = error.code
    if not code and _WINDOW in error.message:
        code, param = "context_length_exceeded", "messages"
    named = {"param": param or None, "code": code or None}
    return {"error": {"message": error.message, "type": error.type, **named}}


def error_of(value: dict[str, Json], status: int | None) -> ParameterError | None:
    """The error of a body, None when it holds none; `status` None takes the usual one.

    Some servers leave out the envelope, and say `"object": "error"`.
    """
    error = value if value.get("object") == "error" else value.get("error")
    if not error:
        return None
    error = error if isinstance(error, dict) else {"message": error}
    kind, code, param = (_text(error.get(name)) for name in ("type", "code", "param"))
    if status is None:
        status = _STATUS.get(code) or _STATUS.get(kind, 0)
    return ParameterError(status, kind, _text(error.get("message")), code=code, param=param)


def _text(value: Json) -> str:
    return "" if value is None else str(value)
