"""What a recording can tell: which checks are asked of a transcript that somebody else wrote down.

A list of messages tells what stands in it: pairing, alternation, loops, arguments that are
missing. A recorded request tells in addition what was really sent; in a log the requests are worked
out from the messages, so what is said of them would be about the reader. Nothing else is known: not
when anything happened, what failed and was tried again, nor whether somebody stopped the agent.
"""

from __future__ import annotations

from harness.core.history.trace import Trace

MESSAGES = frozenset(
    {
        "role_alternation",
        "tool_pairing",
        "unique_tool_ids",
        "wellformed_text",
        "no_progress_stop",
        "args_complete",
    }
)
"""The checks that any list of messages tells."""

REQUESTS = frozenset({"valid_request", "nonblank_content"})
"""The checks that need requests as they were sent."""


def untold(trace: Trace, check: str) -> str:
    """Why a check of ours cannot be asked of a recording; empty if it can, or if it is a run."""
    if trace.world != "recording" or check in MESSAGES:
        return ""
    if check not in REQUESTS:
        return "a recording does not tell"
    return "needs recorded requests" if any(start.inferred for start in trace.starts) else ""
