"""The tool works and has nothing to say, in each of the ways in which a program says nothing."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.faults.tools.answers import answering

STAGE = "value"

SEAMS = ("tool",)

CODES = {
    "empty": ("X3",),
    "blank": ("X3", "X18"),
    "none": ("X3",),
    "no_blocks": ("X3",),
    "empty_object": ("X3",),
}


def empty(moment: Moment, plan: Plan) -> Plan:
    """The tool returns an empty text in place of its answer."""
    return answering(plan, "")


def blank(moment: Moment, plan: Plan) -> Plan:
    """The tool, or a sub-agent, returns nothing but white space."""
    return answering(plan, " \n\t")


def none(moment: Moment, plan: Plan) -> Plan:
    """The tool returns None."""
    return answering(plan, None)


def no_blocks(moment: Moment, plan: Plan) -> Plan:
    """The tool returns an empty list of content blocks."""
    return answering(plan, [])


def empty_object(moment: Moment, plan: Plan) -> Plan:
    """The tool returns an empty object."""
    return answering(plan, {})
