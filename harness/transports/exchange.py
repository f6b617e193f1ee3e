"""A plan as one HTTP exchange: what comes before the first byte, the head, the body's parts.

Both doors carry this out, so a plan means the same to a client behind either. What ends a body is
told by its head, as in HTTP itself. With `content-length`, a body that stops short is broken. With
`transfer-encoding: chunked`, a `Close` comes before the last chunk, and the body is broken too.
With neither, a `Close` is how such a body ends, and the client takes it for whole. A first `Send`
without a head is sent as it stands: the plan brings its own framing, or there is none.
"""

from __future__ import annotations

import msgspec

from harness.core.values.plans import DATA, Close, Head, Plan, Raise, Send, Step, only_sends

Part = bytes | Step

SILENT = frozenset({"timeout", "connect_timeout", "write_timeout"})
"""Errors that are met by waiting: nothing happens until the client gives up."""

CONNECTION_ERRORS = SILENT | {"connect", "dns", "stop"}
"""Errors of the way, and not of what is at its end."""

DISCONNECTED = "Server disconnected without sending a response."
CUT_CHUNKED = (
    "peer closed connection without sending complete message body (incomplete chunked read)"
)


class Exchange(msgspec.Struct, frozen=True):
    """One answer. Sends without a step between them are one part.

    `before` is carried out before any byte, `parts` in order after the head, up to the first
    `Close` or `Raise`. `declared` is the head's content length, None without one; `chunked` says
    that the head announces chunks; `cut` that a body of chunks has no last one. `broken` is what a
    parser says where the bytes break HTTP.
    """

    before: tuple[Step, ...]
    head: Head | None
    parts: tuple[Part, ...]
    declared: int | None
    chunked: bool
    cut: bool
    broken: str = ""

    @property
    def whole(self) -> bytes | None:
        """The whole body where it is known at once, else None."""
        if not self.parts:
            return b""
        only = self.parts[0] if len(self.parts) == 1 else None
        return only if isinstance(only, bytes) else None

    @property
    def short(self) -> str:
        """What a client says of a body that stops here, "" when it is whole."""
        if self.broken:
            return self.broken
        size_bytes = sum(len(part) for part in self.parts if isinstance(part, bytes))
        if self.declared is not None and size_bytes < self.declared:
            return (
                "peer closed connection without sending complete message body "
                f"(received {size_bytes} bytes, expected {self.declared})"
            )
        return CUT_CHUNKED if self.cut else ""


def at_once(plan: Plan) -> tuple[Head, bytes] | None:
    """Head and body of a plan that sends a whole answer and does nothing else; None otherwise.

    Nearly every plan is one, so this is the short way past `exchange`.
    """
    first = plan[0] if plan else None
    if type(first) is not Send or first.head is None:
        return None
    head = first.head
    if "content-length" in head.headers or "transfer-encoding" in head.headers:
        return None
    if len(plan) == 1:
        return head, first.data
    return (head, b"".join(map(DATA, plan))) if only_sends(plan) else None


def exchange(plan: Plan) -> Exchange:
    """The plan as an exchange; a declared length cuts what goes beyond it."""
    start = next((n for n, step in enumerate(plan) if isinstance(step, Send)), len(plan))
    first = plan[start] if start < len(plan) else None
    head = first.head if isinstance(first, Send) else None
    named = {k.lower(): v for k, v in head.headers.items()} if head else {}
    length = named.get("content-length", "")
    declared = int(length) if length.isdecimal() else None
    chunked = declared is None and "chunked" in named.get("transfer-encoding", "").lower()
    parts = _parts(plan[start:])
    return Exchange(
        before=plan[:start],
        head=head,
        parts=parts if declared is None else _cut(parts, declared),
        declared=declared,
        chunked=chunked,
        cut=chunked and Close() in parts,
    )


def _parts(steps: Plan) -> tuple[Part, ...]:
    parts: list[Part] = []
    run: list[bytes] = []
    for step in steps:
        if isinstance(step, Send):
            run.append(step.data)
            continue
        if run:
            parts.append(b"".join(run))
            run = []
        parts.append(step)
        if isinstance(step, (Close, Raise)):
            break
    if run:
        parts.append(b"".join(run))
    return tuple(parts)


def _cut(parts: tuple[Part, ...], declared: int) -> tuple[Part, ...]:
    """The parts without the bytes that nobody reads, for they come after the declared end."""
    kept: list[Part] = []
    left = declared
    for part in parts:
        if isinstance(part, bytes):
            part, left = part[:left], max(0, left - len(part))
        kept.append(part)
    return tuple(kept)
