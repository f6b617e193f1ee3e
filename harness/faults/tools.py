"""Tool faults: a tool that works is made to fail on its way.

They bend a tool's plan before it is answered; arm them `on: tool` or `on: tool:NAME`. On another
seam they are the identity, so a fault armed there is reported as silent.
"""

from __future__ import annotations

from harness.core.plans import Answer, Effect, Plan, Raise, ToolAnswer, Wait
from harness.core.ports import Moment
from harness.core.scenario import Seconds

STAGE = "value"

SEAMS = ("tool",)

CODES = {
    "raises": ("X1",),
    "late": ("X2",),
    "empty": ("X3",),
    "answer_lost": ("X9",),
}

LATEST_MS = 10**10


def raises(moment: Moment, plan: Plan, *, message: str = "tool failure") -> Plan:
    """The tool raises before it has done anything."""
    return (Raise("tool", message),) if _is_tool(moment) else plan


def late(moment: Moment, plan: Plan, *, wait_s: Seconds = 3600.0) -> Plan:
    """The tool answers only after `wait_s` seconds; escalating, twice as many each time."""
    wait_ms = min(int(wait_s * 1000 * moment.harder), LATEST_MS)
    return (Wait(wait_ms), *plan) if _is_tool(moment) else plan


def empty(moment: Moment, plan: Plan) -> Plan:
    """The tool returns an empty text in place of its answer."""
    return (*_effects(plan), Answer(ToolAnswer(""))) if _is_tool(moment) else plan


def answer_lost(moment: Moment, plan: Plan) -> Plan:
    """The effect happens and the answer is lost: the agent sees a time-out."""
    lost = Raise("timeout", "the tool did not answer in time")
    return (*_effects(plan), lost) if _is_tool(moment) else plan


def _is_tool(moment: Moment) -> bool:
    return moment.call.seam == "tool"


def _effects(plan: Plan) -> Plan:
    return tuple(step for step in plan if isinstance(step, Effect))
