"""The envelopes of answers: a message's fields and an error's, read without trust.

A recording may hold anything under these names, so a field of the wrong type counts as missing.
"""

from __future__ import annotations

from harness.core.messages import Json, Message
from harness.core.plans import ApiError
from harness.wires.anthropic.blocks import block_from

STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that goes with an error's type."""


def message_of(value: dict[str, Json], content: list[dict[str, Json]]) -> Message:
    """The message of an envelope, with the blocks that were put together."""
    role = value.get("role")
    blocks = tuple(block_from(block) for block in content)
    return Message(role if isinstance(role, str) else "assistant", blocks)


def stop_of(value: dict[str, Json]) -> str | None:
    """The stop reason, None when it says none."""
    stop = value.get("stop_reason")
    return stop if isinstance(stop, str) else None


def usage_of(value: Json) -> dict[str, Json]:
    """The usage, empty when it is no object."""
    return dict(value) if isinstance(value, dict) else {}


def error_of(value: dict[str, Json], status: int | None) -> ApiError:
    """The error of an envelope; `status` None takes the usual one of its type."""
    error = value.get("error")
    error = error if isinstance(error, dict) else {"message": error}
    kind, message = str(error.get("type") or ""), str(error.get("message") or "")
    return ApiError(STATUS.get(kind, 0) if status is None else status, kind, message)
