"""Refusals of a request for what it holds: consequences of what the recorded agent sent.

As faults they would strike an agent whose requests are right. The fake model has the rules of the
providers and refuses a bad request by itself. A prompt that is too long is not a bad request here:
its size is the conversation's.
"""

from __future__ import annotations

import re
from functools import cache

from harness import providers
from harness.core.values.plans import ApiError

_STATUSES = (400, 422)
_LITERALS_MIN = 16
"""A template with fewer characters of its own would match any text."""

_FILLED_MOST_CHARS = 300

_PLACE = re.compile(r"\b(?:messages|input|contents|tools)(?:\.\d|\[\d|: )")
"""How a provider names the part of a request that it refuses."""

_TOO_LONG = re.compile(
    r"prompt is too long|context.{0,20}(?:length|window|limit)|maximum context", re.IGNORECASE
)


def is_too_long(error: ApiError) -> bool:
    """Whether a prompt was too long."""
    too_large = 413
    if error.status != _STATUSES[0]:
        return error.status == too_large
    return _TOO_LONG.search(error.message) is not None


def is_bad_request(error: ApiError) -> bool:
    """Whether a provider refused a request for what it holds, by a rule or by naming a place."""
    if error.status not in _STATUSES or is_too_long(error):
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
