"""Silence within an answer: time in which nothing comes, or only what keeps a connection open.

A provider that is busy sends pings, a gateway comments, a proxy blank lines. Each of them resets a
client's time-out of reads and says nothing; so the harness counts what is said. White space in the
middle of what is said, and the blank line that ends it, belong to it: an answer may come byte by
byte.
"""

from __future__ import annotations

import re

from harness.core.plans import Plan, Send, Wait

_KEEP_ALIVE = re.compile(rb"(?:\s|:[^\r\n]*+|event: ?ping\r?\n|data: ?\{\"type\": ?\"ping\"\})*+")
"""Events of a stream that only say that it is there: blank lines, comments and pings."""

_BLANK_LINE = re.compile(rb"\n\r?\n")


def silent_ms(plan: Plan) -> int:
    """The longest time in a plan between two things that are said, or before its end."""
    longest = lasting = 0
    is_open, end = False, b""
    for step in plan:
        if isinstance(step, Wait):
            lasting += step.ms
            longest = max(longest, lasting)
        elif isinstance(step, Send):
            if is_open or not _KEEP_ALIVE.fullmatch(step.data):
                lasting = 0
            is_open = _leaves_open(is_open, end, step.data)
            end = (end + step.data)[-2:]
    return longest


def _leaves_open(is_open: bool, end: bytes, data: bytes) -> bool:
    """Whether something said goes on after `data`: no blank line has ended it yet. `is_open`: it
    did before; `end` are the bytes before."""
    *former, rest = _BLANK_LINE.split(end + data) if is_open else _BLANK_LINE.split(data)
    return (is_open and not former) or not _KEEP_ALIVE.fullmatch(rest)
