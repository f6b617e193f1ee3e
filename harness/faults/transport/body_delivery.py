"""Faults of a body on its way: cut, stalled, in the wrong length or in odd pieces.

A wait, even of 0 ms, separates two segments, because transports join adjacent sends.
"""

from __future__ import annotations

from itertools import accumulate

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Head, Plan, Send, Step, Wait
from harness.core.values.strict import Count, FromOne, Seconds
from harness.faults.shared.pieces import body_of, first, framed, head_of, ms, sends
from harness.faults.shared.stream_events import closed, finishes, is_end, opened

STAGE = "bytes"
SEAMS = ("model", "provider")
AFTER_END = ("content_length_too_large",)
# Not byte by byte, for each segment passes the clock: a long run would exceed its limits.
DRAWN = {"tiny_segments": ({"size_bytes": 19},)}


_COMMENT = b": keep-alive\n\n"


def trickle(moment: Moment, plan: Plan, *, for_s: Seconds = 3600.0) -> Plan:
    """The body comes byte by byte over `for_s` seconds: no single read takes long.

    With `then: escalate` it takes twice as many seconds each time.
    """
    body, head = body_of(plan), head_of(plan)
    if not body or head is None:
        return plan
    wait = Wait(ms(for_s * moment.harder / len(body)))
    return tuple(step for piece in _pieces(body, 1, head) for step in (wait, piece))


def reset_mid_body(moment: Moment, plan: Plan, *, after_bytes: Count | None = None) -> Plan:
    """Half of the announced length arrives (or `after_bytes`), then the connection is reset."""
    body = body_of(plan)
    head = framed(plan, content_length=str(len(body)))
    kept = len(body) // 2 if after_bytes is None else after_bytes
    if head is None or kept >= len(body):
        return plan
    return (Send(body[:kept], head), Close(reset=True))


def reset_mid_stream(moment: Moment, plan: Plan, *, after: Count = 3) -> Plan:
    """`after` events leave, then the connection is reset."""
    return plan if sends(plan) <= after else (*first(plan, after), Close(reset=True))


def cut_mid_chunk(moment: Moment, plan: Plan, *, after: Count = 3) -> Plan:
    """A body in chunks loses its last chunk: after `after` events the connection closes normally.

    A body that is not a stream is cut in its middle.
    """
    body, head = body_of(plan), framed(plan, transfer_encoding="chunked")
    if head is None or 1 < sends(plan) <= after:
        return plan
    kept = body_of(first(plan, after)) if sends(plan) > 1 else body[: len(body) // 2]
    return (Send(kept, head), Close())


def stalled_stream(
    moment: Moment, plan: Plan, *, after: Count = 3, wait_s: Seconds | None = None
) -> Plan:
    """`after` events leave, then nothing for `wait_s` seconds (default: no end), then the end.

    The event that ends the answer never leaves: after it a client waits for nothing.
    """
    if sends(plan) <= after:
        return plan
    return (*_unfinished(plan, after), Wait(ms(wait_s)), Close())


def _unfinished(plan: Plan, most: int) -> Plan:
    """The first `most` sends, or fewer: up to the event that ends the answer, without it."""
    events = opened(plan)
    ends = (place for place, step in enumerate(events) if is_end(step) or finishes(step))
    end = next(ends, len(events))
    return first(plan, most) if not events else first(events[:end], most)


PINGS_MAX = 100_000
"""How many pings one answer may hold: a day of one each second, and a plan that fits in memory."""


def stalled_stream_with_pings(
    moment: Moment,
    plan: Plan,
    *,
    after: Count = 3,
    every_s: Seconds = 15.0,
    for_s: Seconds = 3600.0,
    comments: bool = False,
) -> Plan:
    """`after` events leave, then only pings, one in `every_s` seconds over `for_s`, then the end.

    A time-out of reads never fires. The event that ends the answer never leaves. With `comments`,
    and on a wire without pings, they are comments of the stream, which no client is shown.
    """
    kept = _unfinished(plan, max(after, 1))
    if sends(plan) <= max(after, 1) or not sends(kept):
        return plan
    ping = Send(_COMMENT if comments else moment.traits.keep_alive or _COMMENT)
    pings = max(1, int(min(for_s / every_s, PINGS_MAX)))
    return (*kept, *(Wait(ms(every_s)), ping) * pings, Close())


def content_length_too_large(moment: Moment, plan: Plan, *, by_bytes: FromOne = 10) -> Plan:
    """More bytes are announced than come: the body is short when the connection ends."""
    body = body_of(plan)
    head = framed(plan, content_length=str(len(body) + by_bytes))
    return plan if head is None else (Send(body, head), Close())


def content_length_too_small(moment: Moment, plan: Plan, *, by_bytes: FromOne = 10) -> Plan:
    """Fewer bytes are announced than come: the client stops reading before the end.

    A client of Chat has all it needs with the finish reason: an answer that loses what comes after
    it, the token counts and `[DONE]`, counts as whole there.
    """
    body = body_of(plan)
    read_bytes = max(0, len(body) - by_bytes)
    head = framed(plan, content_length=str(read_bytes))
    if head is None or not body:
        return plan
    # The events that the client reads whole decide whether the answer counts as broken off.
    events = opened((Send(body, head),))
    ends = accumulate(len(body_of((step,))) for step in events)
    read = tuple(step for step, end in zip(events, ends, strict=True) if end <= read_bytes)
    return (Send(body, head), *closed(read))


def idle_connection_closed(moment: Moment, plan: Plan) -> Plan:
    """The answer is whole, and the server then closes the connection that it said it would keep.

    The next request finds it dead. In process there is no connection, so nothing is met there.
    """
    head = framed(plan, keep_alive="timeout=0")
    if head is None:
        return plan
    return tuple(
        Send(step.data, head) if isinstance(step, Send) and step.head else step for step in plan
    )


def one_segment(moment: Moment, plan: Plan) -> Plan:
    """The whole answer comes in one segment, at the end of all its waits, as from a buffer."""
    head = head_of(plan)
    if head is None or sends(plan) < 2:
        return plan
    others = tuple(step for step in plan if not isinstance(step, Send))
    waits = tuple(step for step in others if isinstance(step, Wait))
    ends = tuple(step for step in others if not isinstance(step, Wait))
    return (*waits, Send(body_of(plan), head), *ends)


def tiny_segments(moment: Moment, plan: Plan, *, size_bytes: FromOne = 1) -> Plan:
    """The body comes in segments of `size_bytes` bytes, so that events and characters are split."""
    head, steps = head_of(plan), list[Step]()
    pieces = _pieces(body_of(plan), size_bytes, head) if head else []
    if len(pieces) < 2 and sends(plan) < 2:  # nothing is split
        return plan
    for piece in pieces:
        steps += (piece, Wait(0))
    return (*steps, *(step for step in plan if not isinstance(step, (Send, Wait))))


def _pieces(body: bytes, size_bytes: int, head: Head) -> list[Send]:
    """The body in pieces, the head with the first."""
    cut = [body[at : at + size_bytes] for at in range(0, len(body), size_bytes)] or [b""]
    return [Send(cut[0], head), *map(Send, cut[1:])]
