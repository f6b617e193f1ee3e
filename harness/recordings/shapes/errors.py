"""Errors in recorded answers, of any provider: an object under `error`, or a flat one."""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.recordings.shapes import fields as f


def error_of(value: dict[str, Json]) -> ApiError | None:
    """The error that an answer is; None when it is none. Its status is that of the response."""
    said = value.get("error")
    if not said:
        return None
    if isinstance(said, str):
        return ApiError(0, "", said)
    found = f.mapping(said)
    kind = f.text(found.get("type")) or f.text(found.get("code")) or f.text(found.get("status"))
    return ApiError(0, kind, f.text(found.get("message")))
