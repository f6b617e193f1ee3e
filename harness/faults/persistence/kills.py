"""Kills at a write of the store: the process ends, and the machine stays or goes with it."""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Kill, Plan, Send
from harness.core.values.strict import Count
from harness.faults.persistence.records import on, records

STAGE = "bytes"

SEAMS = ("store",)

ON = "store:write"

CODES = {
    "killed_at_write": ("P1",),
    "torn_write": ("P4",),
    "power_cut": ("P11",),
    "power_cut_reordered": ("P11",),
}

KILLS = ("killed_at_write", "torn_write", "power_cut", "power_cut_reordered")

Point = Literal["before", "inside", "after"]


def killed_at_write(moment: Moment, plan: Plan, *, point: Point = "inside") -> Plan:
    """The process is killed at a write: before it, when all of it is said and nothing counts, or
    after it, when nobody knows that it counts. What was written stays."""
    return _ended(plan, point, Kill()) if on(moment, access="write") else plan


def torn_write(moment: Moment, plan: Plan, *, at_byte: Count = 20) -> Plan:
    """`at_byte` bytes of a line are written, then the process is killed."""
    line = b"".join(records(plan))
    if not on(moment, access="write", store="jsonl") or at_byte >= len(line):
        return plan
    return (Send(line[:at_byte]), Kill())


def power_cut(moment: Moment, plan: Plan, *, point: Point = "inside") -> Plan:
    """The machine fails at a write: what was not synced is gone, acknowledged or not."""
    return _ended(plan, point, Kill("lost")) if on(moment, access="write") else plan


def power_cut_reordered(moment: Moment, plan: Plan, *, point: Point = "inside") -> Plan:
    """The machine fails at a write, and of what was not synced only the end has reached the disk,
    behind a run of zeros. SQLite drops such a log whole."""
    wanted = on(moment, access="write", store="jsonl")
    return _ended(plan, point, Kill("reordered")) if wanted else plan


def _ended(plan: Plan, point: Point, end: Kill) -> Plan:
    """The plan up to the point, and the end there."""
    if point == "before":
        return (end, *plan)
    if point == "after":
        return (*plan, end)
    place = next((i for i, step in enumerate(plan) if isinstance(step, Answer)), len(plan))
    return (*plan[:place], end, *plan[place:])
