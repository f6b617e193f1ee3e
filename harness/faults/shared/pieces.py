"""Pieces of a plan and their durations, for faults that cut and frame it; nothing here is one.

A custom frame is sends without a head, which transports carry out byte by byte.
"""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from harness.core.values.plans import Head, Plan, Send

FOREVER_MS = 10**10
"""Longer than any run."""


def ms(wait_s: float | None) -> int:
    """Seconds of a setting as the milliseconds of a step, at least 1 for any wait at all.

    None is a wait without end.
    """
    if wait_s is None:
        return FOREVER_MS
    return min(int(wait_s * 1000) or int(wait_s > 0), FOREVER_MS)


_FRAMING = frozenset({"content-length", "transfer-encoding", "content-encoding"})


def head_of(plan: Plan) -> Head | None:
    """The head of the answer, None where the plan sends none."""
    return next((s.head for s in plan if isinstance(s, Send) and s.head is not None), None)


def body_of(plan: Plan) -> bytes:
    """All bytes of the body."""
    return b"".join(step.data for step in plan if isinstance(step, Send))


def sends(plan: Plan) -> int:
    """How many sends the plan has."""
    return sum(isinstance(step, Send) for step in plan)


def first(plan: Plan, most: int) -> Plan:
    """The plan up to its `most`-th send."""
    kept = 0
    for place, step in enumerate(plan):
        kept += isinstance(step, Send)
        if kept > most:
            return plan[:place]
    return plan


def framed(plan: Plan, **headers: str) -> Head | None:
    """The head with these headers (underscores for hyphens) in place of any other framing."""
    head = head_of(plan)
    if head is None:
        return None
    named = {k: v for k, v in head.headers.items() if k.lower() not in _FRAMING}
    framing = {name.replace("_", "-"): value for name, value in headers.items()}
    return msgspec.structs.replace(head, headers=named | framing)


def written(head: Head) -> bytes:
    """A head as its bytes, up to the blank line."""
    known = head.status in HTTPStatus.__members__.values()
    reason = HTTPStatus(head.status).phrase if known else "Unknown"
    lines = [f"HTTP/1.1 {head.status} {reason}"]
    lines += [f"{name}: {value}" for name, value in head.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
