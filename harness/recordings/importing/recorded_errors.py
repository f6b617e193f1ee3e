"""Errors of a provider's API in a recording, and what of them a scenario plays.

Session logs show an error as a text of the assistant, and programs mark it with their own words
around it. All that is left of the answer is this text of another program, so it is read here, once,
into values.

A refusal of a request for what it holds is a consequence of what the recorded agent sent. As a
fault it would strike an agent whose requests are right. The fake model has the rules of the
providers and refuses a bad request by itself. A prompt that is too long is not a bad request here:
its size is the conversation's.
"""

from __future__ import annotations

import re
from functools import cache

from harness import providers
from harness.core.values.messages import Message
from harness.core.values.plans import ApiError
from harness.providers.shared import json_fields as f
from harness.recordings.importing.dialogue import FailedTurn

_LOGGED = re.compile(r"API Error(?:: (?P<status>[45]\d\d))?\b|(?P<long>Prompt is too long)\b")
"""How Claude Code's log shows a provider's error, as a text of the assistant."""

STATUS_OF_NO_ANSWER = 500
"""The status of an error whose log holds none."""


def error_shown(message: Message) -> ApiError | None:
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


_STATUSES = (400, 422)
_LITERALS_MIN = 16
"""A template with fewer characters of its own would match any text."""

_FILLED_MOST_CHARS = 300

_PLACE = re.compile(r"\b(?:messages|input|contents|tools)(?:\.\d|\[\d|: )")
"""How a provider names the part of a request that it refuses."""

_TOO_LONG = re.compile(
    r"prompt is too long|context.{0,20}(?:length|window|limit)|maximum context", re.IGNORECASE
)


def failed_turn(error: ApiError) -> FailedTurn:
    """The error as a step: a refusal of the size of a prompt, of what it holds, or another one."""
    is_long = _is_too_long(error)
    return FailedTurn(error, bad_request=not is_long and _is_bad_request(error), too_long=is_long)


def _is_too_long(error: ApiError) -> bool:
    too_large = 413
    if error.status != _STATUSES[0]:
        return error.status == too_large
    return _TOO_LONG.search(error.message) is not None


def _is_bad_request(error: ApiError) -> bool:
    """Whether a provider refused a request for what it holds, by a rule or by naming a place."""
    if error.status not in _STATUSES:
        return False
    named = _PLACE.search(error.message) is not None
    return named or any(_says(error.message, literals) for literals in _rules())


@cache
def _rules() -> tuple[tuple[str, ...], ...]:
    """The texts of all rules of all providers, without the parts that a rule fills in."""
    texts = {
        refusal.message
        for name in providers.names()
        for refusal in providers.by_name(name).refusals().values()
    }
    found = (tuple(filter(None, re.split(r"\{\w*\}", text))) for text in sorted(texts))
    return tuple(
        literals
        for literals in found
        if len("".join(literals)) >= _LITERALS_MIN and not _TOO_LONG.search("".join(literals))
    )


def _says(message: str, literals: tuple[str, ...]) -> bool:
    """Whether the parts stand in a message in order, each a short text behind the one before.

    One regular expression of all rules would try each length of each gap: 300 by 300 at a place.
    """
    first, *others = literals
    at = message.find(first)
    while at >= 0:
        end = at + len(first)
        for literal in others:
            found = message.find(literal, end, end + _FILLED_MOST_CHARS + len(literal))
            if found < 0:
                break
            end = found + len(literal)
        else:
            return True
        at = message.find(first, at + 1)
    return False
