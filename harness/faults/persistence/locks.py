"""Others at the same store: a lock that is held, a transaction that comes too late, a second
process on the same session. What SQLite says of a lock is SQLite's own error."""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import user
from harness.core.values.plans import Plan, Raise, Send, Wait
from harness.core.values.strict import Seconds
from harness.faults.persistence.records import fact, on, records, row

STAGE = "value"

SEAMS = ("store",)

ON = "store:write"

CODES = {
    "locked": ("P7",),
    "lock_released_in_time": ("P7",),
    "snapshot_conflict": ("P8",),
    "second_writer": ("P14",),
    "second_agent": ("P14",),
}


def locked(
    moment: Moment, plan: Plan, *, wait_s: Annotated[float, msgspec.Meta(ge=0)] = 5.0
) -> Plan:
    """Another process holds the write lock of a SQLite store for longer than its busy time-out of
    `wait_s` seconds (0: it has none): "database is locked"."""
    if not on(moment, access="write", store="sqlite"):
        return plan
    waited = (Wait(int(wait_s * 1000)),) if wait_s else ()
    return (*waited, Raise("busy"), *plan)


def lock_released_in_time(moment: Moment, plan: Plan, *, wait_s: Seconds = 2.0) -> Plan:
    """Another process holds the lock and lets it go after `wait_s` seconds; escalating, twice as
    many each time. The write is late and succeeds."""
    if not on(moment, access="write"):
        return plan
    return (Wait(min(int(wait_s * 1000 * moment.harder), 10**10)), *plan)


def snapshot_conflict(moment: Moment, plan: Plan) -> Plan:
    """A SQLite transaction that has read wants to write, and another has written since: "database
    is locked" at once, whatever the busy time-out."""
    if not on(moment, access="write", store="sqlite"):
        return plan
    return (Raise("busy_snapshot"), *plan)


def second_writer(moment: Moment, plan: Plan, *, text: str = "From another process:") -> Plan:
    """A second process has the same session open, and stores a message of its own first."""
    if not on(moment, access="write"):
        return plan
    return (Send(row(moment, user(f"{text} {moment.call.n}"))), *plan)


def second_agent(moment: Moment, plan: Plan) -> Plan:
    """A second agent on the same session takes the same inbound message in first."""
    taken = [record for record in records(plan) if fact(record).get("accepted")]
    if not on(moment, access="write") or not taken:
        return plan
    again = fact(taken[0])
    return (Send(msgspec.json.encode(again) + b" \n"), *plan)
