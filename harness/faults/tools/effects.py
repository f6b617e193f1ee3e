"""The tool's effect and its answer come apart. All but `kills_agent` need a tool with an effect."""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Effect, Kill, Plan, Raise
from harness.faults.tools.answers import answering, effects

STAGE = "value"

SEAMS = ("tool",)

CODES = {
    "answer_lost": ("X9",),
    "server_dies": ("X9", "X15"),
    "effect_twice": ("X10",),
    "partial_effect": ("X11",),
    "kills_agent": ("X17", "G10"),
}

KILLS = ("kills_agent",)

PARTIAL = "Error: the connection broke after a part of it was done."


def answer_lost(moment: Moment, plan: Plan) -> Plan:
    """The effect happens and the answer is lost: the agent sees a time-out."""
    return (*effects(plan), Raise("timeout", "the tool did not answer in time"))


def server_dies(moment: Moment, plan: Plan) -> Plan:
    """The effect happens and the tool's server dies before it answers: the connection is reset."""
    return (*effects(plan), Close(reset=True))


def effect_twice(moment: Moment, plan: Plan) -> Plan:
    """The tool's backend does everything twice, by itself, and answers once."""
    return (*effects(plan), *plan) if effects(plan) else plan


def partial_effect(moment: Moment, plan: Plan) -> Plan:
    """A part of the effect happens, and the tool reports an error."""
    parts = tuple(
        msgspec.structs.replace(step, name=f"{step.name} in part")
        for step in plan
        if isinstance(step, Effect)
    )
    return answering(parts, PARTIAL, is_error=True) if parts else plan


def kills_agent(moment: Moment, plan: Plan, *, effect: str = "restart") -> Plan:
    """The tool restarts the agent that calls it: what it does happens, and nobody hears of it."""
    return (*effects(plan), Effect(effect), Kill())
