"""A store that promises too much: the write is acknowledged, and not as safe as it seems.

Nobody notices before the process or the machine ends; arm a kill with them.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Kept, Plan, Step
from harness.faults.persistence.records import on

STAGE = "value"

SEAMS = ("store",)

ON = "store:write"

CODES = {"fsync_ignored": ("P11",), "commit_forgotten": ("P18",)}


def fsync_ignored(moment: Moment, plan: Plan) -> Plan:
    """The disk says that the write is synced and has it in its cache: a failure of the machine
    takes it."""
    return _kept(plan, Kept("unsynced")) if on(moment, access="write") else plan


def commit_forgotten(moment: Moment, plan: Plan) -> Plan:
    """A SQLite write is acknowledged in a transaction that nobody commits, unless a later write
    does: the end of the process takes it."""
    wanted = on(moment, access="write", store="sqlite")
    return _kept(plan, Kept("uncommitted")) if wanted else plan


def _kept(plan: Plan, kept: Kept) -> Plan:
    return tuple(_answered(step, kept) for step in plan)


def _answered(step: Step, kept: Kept) -> Step:
    return Answer(kept) if isinstance(step, Answer) else step
