"""The tool takes its time, or never comes to an end."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Plan, Raise, ToolAnswer, Wait
from harness.core.values.strict import Seconds
from harness.faults.tools.answers import effects

STAGE = "value"

SEAMS = ("tool",)

CODES = {
    "late": ("X2", "X13"),
    "never_returns": ("X2",),
    "approval_never": ("X13", "G16"),
    "approval_denied": ("X13",),
}

LATEST_MS = 10**10

UNAPPROVED = "Nobody answered the request for approval; nothing was done."
DENIED = "The user did not allow this call; nothing was done."


def late(moment: Moment, plan: Plan, *, wait_s: Seconds = 3600.0) -> Plan:
    """The tool answers only after `wait_s` seconds; escalating, twice as many each time.

    Whoever gives up before does not stop it: its effect happens all the same.
    """
    return (Wait(min(int(wait_s * 1000 * moment.harder), LATEST_MS)), *plan)


def never_returns(moment: Moment, plan: Plan, *, wait_s: Seconds | None = None) -> Plan:
    """The effect happens, and the tool does not answer for `wait_s` seconds (for ever)."""
    wait_ms = LATEST_MS if wait_s is None else min(int(wait_s * 1000), LATEST_MS)
    return (*effects(plan), Wait(wait_ms), Raise("timeout", "the tool does not answer"))


def approval_never(moment: Moment, plan: Plan, *, wait_s: Seconds = 8 * 3600.0) -> Plan:
    """The tool asks the user for approval, who is away: after `wait_s` seconds it is an error."""
    wait_ms = min(int(wait_s * 1000), LATEST_MS)
    return (Wait(wait_ms), Answer(ToolAnswer(UNAPPROVED, is_error=True)))


def approval_denied(moment: Moment, plan: Plan) -> Plan:
    """The tool asks the user for approval, who says no; nothing is done."""
    return (Answer(ToolAnswer(DENIED, is_error=True)),)
