"""Regular expressions of files: one from outside may need a time without end.

The module `re` searches in C without a limit, and holds the interpreter. `regex` reads the same
expressions and gives up after a time, which it counts as processor time of this process.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import regex

from harness.core.values.errors import InputError

Pattern: TypeAlias = regex.Pattern[str]

LIMIT_S = 1.0
"""The processor seconds of one search; a search of a whole message takes milliseconds."""


class EndlessPattern(InputError):
    """A search took longer than `LIMIT_S`; the text names the pattern."""


def pattern_of(text: str) -> Pattern:
    """Return a regular expression. Raises ValueError, with what is wrong and where."""
    try:
        return regex.compile(text)
    except regex.error as error:
        raise ValueError(str(error)) from None


def patterns_of(texts: Iterable[str], place: str) -> list[Pattern]:
    """Return the regular expressions of a setting. Raises InputError, with its place."""
    try:
        return [pattern_of(text) for text in texts]
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None


def is_in(pattern: Pattern, text: str) -> bool:
    """Whether a text contains what the pattern describes. Raises EndlessPattern."""
    try:
        return pattern.search(text, timeout=LIMIT_S) is not None
    except TimeoutError:
        raise _endless(pattern, text) from None


def without(pattern: Pattern, text: str) -> str:
    """A text with the end of a line in place of each part that the pattern describes, because
    other words may stand there. Raises EndlessPattern."""
    try:
        return pattern.sub("\n", text, timeout=LIMIT_S)
    except TimeoutError:
        raise _endless(pattern, text) from None


def without_all(patterns: Iterable[Pattern], text: str) -> str:
    """A text without what any of the patterns describes; see `without`."""
    for pattern in patterns:
        text = without(pattern, text)
    return text


def _endless(pattern: Pattern, text: str) -> EndlessPattern:
    return EndlessPattern(
        f"the regular expression {pattern.pattern!r} takes more than {LIMIT_S:g} s on a text "
        f"of {len(text)} characters: write it without repeats of repeats",
        "pattern",
    )
