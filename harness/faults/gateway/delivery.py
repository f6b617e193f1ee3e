"""The outbox: what the agent says is not taken, is taken late, or is taken and not confirmed."""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import OutboxRequest
from harness.core.values.plans import Head, Plan, Raise, Send, Wait
from harness.core.values.strict import Seconds

STAGE = "value"

SEAMS = ("outbox",)

CODES = {
    "delivery_fails": ("G7",),
    "delivery_times_out": ("G7",),
    "flood_wait": ("G7",),
    "confirmation_lost": ("G7",),
    "final_fails": ("G8",),
}

LONGEST_MS = 10**10


def delivery_fails(moment: Moment, plan: Plan, *, message: str = "the chat is gone") -> Plan:
    """The channel says no, and nothing has arrived."""
    return (Raise("delivery", message),)


def delivery_times_out(moment: Moment, plan: Plan, *, wait_s: Seconds = 30.0) -> Plan:
    """The channel does not answer, and nothing has arrived."""
    wait_ms = min(int(wait_s * 1000), LONGEST_MS)
    return (Wait(wait_ms), Raise("timeout", "the channel does not answer"))


def flood_wait(moment: Moment, plan: Plan, *, retry_after: Seconds = 200.0) -> Plan:
    """The channel answers 429 and asks for a pause; escalating, for twice as long each time."""
    pause_s = f"{retry_after * moment.harder:g}"
    head = Head(429, {"content-type": "application/json", "retry-after": pause_s})
    body = {"error": f"Too Many Requests: retry after {pause_s}"}
    return (Send(msgspec.json.encode(body), head),)


def confirmation_lost(moment: Moment, plan: Plan) -> Plan:
    """What was said has arrived, and the channel's answer is lost: a time-out."""
    return (*plan, Raise("timeout", "the channel does not answer"))


def final_fails(moment: Moment, plan: Plan, *, message: str = "the chat is gone") -> Plan:
    """Parts of an answer have arrived; the final that is to end it does not."""
    request = moment.call.request
    is_final = isinstance(request, OutboxRequest) and request.kind == "final"
    return (Raise("delivery", message),) if is_final else plan
