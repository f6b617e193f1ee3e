"""Silence within an answer: time in which nothing comes, or only what keeps a connection open.

A provider that is busy sends pings, a gateway comments, a proxy blank lines. Each of them resets a
client's time-out of reads and says nothing; so the harness counts what is said.
"""

from __future__ import annotations

import re

from harness.core.plans import Plan, Send, Wait

_KEEP_ALIVE = re.compile(rb"(?:\s|:[^\r\n]*+|event: ?ping\r?\n|data: ?\{\"type\": ?\"ping\"\})*+")
"""Events of a stream that only say that it is there: blank lines, comments and pings."""


def silent_ms(plan: Plan) -> int:
    """The longest time in a plan between two things that are said, or before its end."""
    longest = lasting = 0
    for step in plan:
        if isinstance(step, Wait):
            lasting += step.ms
            longest = max(longest, lasting)
        elif isinstance(step, Send) and not _KEEP_ALIVE.fullmatch(step.data):
            lasting = 0
    return longest
