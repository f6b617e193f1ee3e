"""What a tool holds for the agent runs out while it is at work."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Plan, ToolAnswer, Wait
from harness.core.values.strict import Seconds

STAGE = "value"

SEAMS = ("tool",)

CODES = {"lease_expired": ("K8",)}


def lease_expired(moment: Moment, plan: Plan, *, lease_s: Seconds = 300.0) -> Plan:
    """The tool works for longer than its lock or login lasts, which is `lease_s` seconds, and
    reports that it has nothing any more. It has done nothing."""
    text = f"the lease expired after {lease_s:g} s; acquire it again and repeat the call"
    return (Wait(int(lease_s * 1000) + 1), Answer(ToolAnswer(text, is_error=True)))
