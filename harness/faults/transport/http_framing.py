"""Faults of what HTTP puts around a body: status line, headers, chunks, encodings.

Bytes are sent literally. In process the client gets its own HTTP parser's verdict on them.
"""

from __future__ import annotations

import gzip

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Plan, Send, Wait
from harness.core.values.strict import FromOne, Seconds
from harness.faults.shared.pieces import body_of, framed, head_of, ms, written

STAGE = "bytes"
SEAMS = ("model", "provider")
AFTER_END = ("extra_bytes_in_chunk",)
# Smaller than usual: at its usual size it takes long, or exceeds the limits of a run.
DRAWN = {"informational_storm": ({"answers": 10},)}

_EARLY_HINT = b"HTTP/1.1 103 Early Hints\r\n\r\n"


def slow_headers(moment: Moment, plan: Plan, *, for_s: Seconds = 3600.0) -> Plan:
    """The headers come byte by byte over `for_s` seconds, then the whole body at once."""
    body = body_of(plan)
    head = framed(plan, content_length=str(len(body)))
    if head is None:
        return plan
    line = written(head)
    wait = Wait(ms(for_s * moment.harder / len(line)))
    slow = [step for at in range(len(line)) for step in (wait, Send(line[at : at + 1]))]
    return (*slow, Send(body))


def malformed_chunk_size(moment: Moment, plan: Plan, *, size: str = "zz") -> Plan:
    """The body comes in chunks; after the first half the size of the next one is not a number."""
    body, head = body_of(plan), framed(plan, transfer_encoding="chunked")
    if head is None:
        return plan
    half = body[: len(body) // 2 + 1]
    return (Send(written(head) + _chunk(half) + f"{size}\r\n".encode() + body), Close())


def extra_bytes_in_chunk(moment: Moment, plan: Plan, *, extra_bytes: FromOne = 2) -> Plan:
    """A chunk holds `extra_bytes` more bytes than its size says."""
    body, head = body_of(plan), framed(plan, transfer_encoding="chunked")
    if head is None:
        return plan
    extra = b"x" * extra_bytes
    chunk = b"%x\r\n%b%b\r\n0\r\n\r\n" % (len(body), body, extra)
    return (Send(written(head) + chunk), Close())


def plain_body_as_gzip(moment: Moment, plan: Plan) -> Plan:
    """The head says gzip, and the body is plain."""
    body, head = body_of(plan), framed(plan, content_encoding="gzip")
    return plan if head is None or not body else (Send(body, head), Close())


def truncated_gzip(moment: Moment, plan: Plan) -> Plan:
    """A body in gzip ends in its middle, at its announced length."""
    packed = gzip.compress(body_of(plan), mtime=0)
    half = packed[: len(packed) // 2]
    head = framed(plan, content_encoding="gzip", content_length=str(len(half)))
    return plan if head is None else (Send(half, head), Close())


def bad_status_line(moment: Moment, plan: Plan, *, line: str = "HTTP/1.1 OK 200") -> Plan:
    """The status line is malformed."""
    head = head_of(plan)
    if head is None:
        return plan
    _, _, headers = written(head).partition(b"\r\n")
    return (Send(line.encode() + b"\r\n" + headers + body_of(plan)), Close())


def answer_without_head(moment: Moment, plan: Plan) -> Plan:
    """The body comes without a status line and headers, as in HTTP/0.9."""
    return plan if head_of(plan) is None else (Send(body_of(plan)), Close())


def informational_storm(
    moment: Moment, plan: Plan, *, answers: FromOne = 100, for_s: Seconds | None = None
) -> Plan:
    """Before the answer come `answers` informational ones (103), spread over `for_s` seconds."""
    body = body_of(plan)
    head = framed(plan, content_length=str(len(body)))
    if head is None:
        return plan
    wait = (Wait(ms(for_s / answers)),) if for_s else ()
    return (*(*wait, Send(_EARLY_HINT)) * answers, Send(written(head) + body))


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
