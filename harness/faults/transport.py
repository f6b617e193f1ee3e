"""Transport faults: what happens to the bytes on their way.

They cut or delay a plan of sends. A cut plan is not whole, so its turn is played again.
"""

from __future__ import annotations

from harness.core.plans import Close, Plan, Send, Wait
from harness.core.ports import Moment
from harness.core.scenario import Count, Seconds

STAGE = "bytes"

SEAMS = ("model", "tool", "inbox", "outbox")

CODES = {
    "latency": (),
    "reset_before_headers": ("T4",),
    "close_before_headers": ("T5",),
    "headers_never_come": ("T7",),
    "reset_mid_stream": ("T10",),
    "stalled_stream": ("T12",),
}

FOREVER_MS = 10**10


def latency(moment: Moment, plan: Plan, *, wait_s: Seconds = 1.0) -> Plan:
    """The answer comes whole, `wait_s` seconds late; escalating, twice as late each time."""
    return (Wait(_ms(wait_s * moment.harder)), *plan)


def reset_before_headers(moment: Moment, plan: Plan) -> Plan:
    """The connection is reset once the request was read: the provider may have billed it."""
    return (Close(reset=True),)


def close_before_headers(moment: Moment, plan: Plan) -> Plan:
    """The connection ends in order without an answer."""
    return (Close(),)


def headers_never_come(moment: Moment, plan: Plan, *, wait_s: Seconds | None = None) -> Plan:
    """Nothing is answered for `wait_s` seconds (for ever), then the connection ends."""
    return (Wait(_ms(wait_s)), Close())


def reset_mid_stream(moment: Moment, plan: Plan, *, after: Count = 3) -> Plan:
    """`after` sends leave, then the connection is reset."""
    return plan if _sends(plan) <= after else (*_first(plan, after), Close(reset=True))


def stalled_stream(
    moment: Moment, plan: Plan, *, after: Count = 3, wait_s: Seconds | None = None
) -> Plan:
    """`after` sends leave, then nothing for `wait_s` seconds (for ever), then the end."""
    if _sends(plan) <= after:
        return plan
    return (*_first(plan, after), Wait(_ms(wait_s)), Close())


def _ms(wait_s: float | None) -> int:
    return FOREVER_MS if wait_s is None else min(int(wait_s * 1000), FOREVER_MS)


def _sends(plan: Plan) -> int:
    return sum(isinstance(step, Send) for step in plan)


def _first(plan: Plan, sends: int) -> Plan:
    """The plan up to its `sends`-th send."""
    kept = 0
    for place, step in enumerate(plan):
        kept += isinstance(step, Send)
        if kept > sends:
            return plan[:place]
    return plan
