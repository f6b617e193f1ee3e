"""A kill between what a tool does and the row that tells of it."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Effect, Kill, Plan

STAGE = "value"

SEAMS = ("tool",)

CODES = {"killed_after_effect": ("P3",)}

KILLS = ("killed_after_effect",)


def killed_after_effect(moment: Moment, plan: Plan) -> Plan:
    """The tool does its work, and the process is killed before the result can be stored."""
    return (*(step for step in plan if isinstance(step, Effect)), Kill())
