"""Faults of a connection from which no answer comes.

In process a client meets its own library's error. A server that listens has accepted before it
knows what to do, so over loopback a refusal and a name that is not found are a reset, and a
connect or a send that hangs is silence until the client's read time-out: the nearest that there
is, and a connection error or a time-out to every SDK.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Plan, Raise, Wait
from harness.core.values.strict import Seconds
from harness.faults.transport.pieces import ms

STAGE = "bytes"

SEAMS = ("model", "tool", "inbox", "outbox", "provider")

CODES = {
    "latency": (),
    "refused": ("T1",),
    "name_not_found": ("T2",),
    "connect_timeout": ("T3",),
    "reset_before_headers": ("T4",),
    "close_before_headers": ("T5",),
    "request_never_read": ("T6",),
    "headers_never_come": ("T7",),
}


def latency(moment: Moment, plan: Plan, *, wait_s: Seconds = 1.0) -> Plan:
    """The answer comes whole, `wait_s` seconds late; escalating, twice as late each time."""
    return (Wait(ms(wait_s * moment.harder)), *plan)


def refused(moment: Moment, plan: Plan) -> Plan:
    """Nobody listens: the connection is refused. Over loopback it is reset."""
    return (Raise("connect"),)


def name_not_found(moment: Moment, plan: Plan) -> Plan:
    """The host's name cannot be resolved. Over loopback the connection is reset."""
    return (Raise("dns"),)


def connect_timeout(moment: Moment, plan: Plan, *, wait_s: Seconds = 5.0) -> Plan:
    """The connection is not made within `wait_s` seconds. Over loopback nothing is answered."""
    return (Wait(_patience_ms(moment, wait_s)), Raise("connect_timeout"))


def reset_before_headers(moment: Moment, plan: Plan) -> Plan:
    """The connection is reset once the request was read: the provider may have billed it."""
    return (Close(reset=True),)


def close_before_headers(moment: Moment, plan: Plan) -> Plan:
    """The connection ends in order without an answer."""
    return (Close(),)


def request_never_read(moment: Moment, plan: Plan, *, wait_s: Seconds = 600.0) -> Plan:
    """The request is not taken: sending it blocks, and times out after `wait_s` seconds.

    Over loopback the request was read, for it is recorded, and nothing is answered.
    """
    return (Wait(_patience_ms(moment, wait_s)), Raise("write_timeout"))


def headers_never_come(moment: Moment, plan: Plan, *, wait_s: Seconds | None = None) -> Plan:
    """Nothing is answered for `wait_s` seconds (for ever), then the connection ends."""
    return (Wait(ms(wait_s)), Close())


def _patience_ms(moment: Moment, wait_s: float) -> int:
    """`wait_s`, or the client's own patience where it has less."""
    most_ms = moment.call.timeout_ms
    return ms(wait_s) if most_ms is None else min(ms(wait_s), most_ms)
