"""Errors of a provider's API that a session log holds in place of an answer."""

from __future__ import annotations

import re

from harness.core.values.messages import Message
from harness.core.values.plans import ApiError
from harness.providers.shared import json_fields as f

_LOGGED = re.compile(r"API Error(?:: (?P<status>[45]\d\d))?\b|(?P<long>Prompt is too long)\b")
"""How Claude Code's log shows a provider's error, as a text of the assistant."""

STATUS_OF_NO_ANSWER = 500
"""The status of an error whose log holds none."""


def logged_error(message: Message) -> ApiError | None:
    """The error that a session log shows as a text of the assistant, None for a reply."""
    found = _LOGGED.match(message.text) if not message.tool_uses else None
    if found is None:
        return None
    if found["long"]:
        return ApiError(400, "invalid_request_error", "prompt is too long")
    rest = message.text[found.end() :].strip(" :\n")
    body = f.parse(rest)
    said = f.mapping(f.mapping(body).get("error"))
    text = rest if body is None else f.text(said.get("message"))
    return ApiError(int(found["status"] or STATUS_OF_NO_ANSWER), f.text(said.get("type")), text)


def error_in_own_words(error: ApiError) -> ApiError:
    """An error that a log marks, as the provider said it where the log holds its body."""
    _, brace, rest = error.message.partition("{")
    said = f.mapping(f.mapping(f.parse(brace + rest)).get("error"))
    return ApiError(
        error.status or STATUS_OF_NO_ANSWER,
        f.text(said.get("type")) or error.type,
        f.text(said.get("message")) or error.message,
    )
