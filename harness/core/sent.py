"""What the bytes of a plan say to a client: the status, and the answer as the wire reads it.

A plan sends its head beside the first bytes, or brings one of its own within them, which only an
HTTP parser reads in full; of such a one no more than the status is read here.
"""

from __future__ import annotations

import re

from harness.core.plans import Head, Plan, Send
from harness.core.ports import Parsed, Wire

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)[ \r]")


def read(wire: Wire, plan: Plan) -> tuple[Head, Parsed] | None:
    """Head and content of the answer; None where it has no head, or brings its own."""
    sent = [step for step in plan if isinstance(step, Send)]
    head = sent[0].head if sent else None
    if head is None:
        return None
    body = b"".join(step.data for step in sent)
    return head, wire.parse(body, head.headers.get("content-type", ""))


def written_status(plan: Plan) -> list[int]:
    """The status of an answer that brings a head of its own, behind informational ones if any."""
    sent = b"".join([step.data for step in plan if isinstance(step, Send)])
    while sent.startswith(b"HTTP/1.1 1") and b"\r\n\r\n" in sent:
        sent = sent.partition(b"\r\n\r\n")[2]
    found = _STATUS_LINE.match(sent)
    return [int(found[1])] if found and b"\r\n\r\n" in sent else []
