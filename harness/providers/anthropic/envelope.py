"""The envelopes of answers: a message's fields and an error's, read without trust.

A recording may hold anything under these names, so a field of the wrong type counts as missing.
"""

from __future__ import annotations

from harness.core.values.messages import Json, Message
from harness.core.values.plans import ApiError
from harness.providers.anthropic.blocks import block_from
from harness.providers.anthropic.errors import STATUS


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
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, dict) else None
    usual = STATUS.get(kind, 0) if status is None else status
    return ApiError(usual, kind, message, code=code if isinstance(code, str) else "")
