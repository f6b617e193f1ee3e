"""The process stands still: the machine sleeps, or is suspended, and nobody has waited."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Jump, Plan, Send, Wait
from harness.core.values.strict import Count, Seconds

STAGE = "bytes"

SEAMS = ("model",)

CODES = {"laptop_sleep": ("K3",), "suspended": ("K4",)}

VIRTUAL = True


def laptop_sleep(
    moment: Moment, plan: Plan, *, after: Count = 3, sleep_s: Seconds = 28_800.0
) -> Plan:
    """After `after` sends the lid is closed: the wall clock is `sleep_s` seconds later, the
    monotonic one is not, and the connection is dead and says nothing more."""
    place = _place(plan, after)
    if place is None:
        return plan
    return (*plan[:place], Jump(int(sleep_s * 1000)), Wait(10**10), Close())


def suspended(moment: Moment, plan: Plan, *, pause_s: Seconds = 3600.0) -> Plan:
    """The process is stopped for `pause_s` seconds before the answer: both clocks have moved at
    once, and every timer that was due meanwhile fires now."""
    pause_ms = int(pause_s * 1000)
    return (Jump(pause_ms, pause_ms), *plan)


def _place(plan: Plan, after: int) -> int | None:
    """Where the send number `after` begins, counted from 0; None when there are no more."""
    sends = [i for i, step in enumerate(plan) if isinstance(step, Send)]
    return sends[after] if after < len(sends) else None
