"""Tool faults: a tool that works is made to fail on its way.

They bend a tool's plan before it is answered; arm them `on: tool` or `on: tool:NAME`.
"""

from __future__ import annotations

from harness.core.plans import Answer, Effect, Plan, Raise, ToolAnswer, Wait
from harness.core.ports import Moment

STAGE = "value"

CODES = {
    "raises": ("X1",),
    "late": ("X2",),
    "empty": ("X3",),
    "answer_lost": ("X9",),
}


def raises(moment: Moment, plan: Plan, *, message: str = "tool failure") -> Plan:
    """The tool raises before it has done anything."""
    return (Raise("tool", message),)


def late(moment: Moment, plan: Plan, *, wait_s: float = 3600.0) -> Plan:
    """The tool answers only after `wait_s` seconds."""
    return (Wait(int(wait_s * 1000)), *plan)


def empty(moment: Moment, plan: Plan) -> Plan:
    """The tool returns an empty text in place of its answer."""
    return (*_effects(plan), Answer(ToolAnswer("")))


def answer_lost(moment: Moment, plan: Plan) -> Plan:
    """The effect happens and the answer is lost: the agent sees a time-out."""
    return (*_effects(plan), Raise("timeout", "the tool did not answer in time"))


def _effects(plan: Plan) -> Plan:
    return tuple(step for step in plan if isinstance(step, Effect))
