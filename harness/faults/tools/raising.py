"""The tool raises. In this process it is an exception of that class, over HTTP a status 500."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan, Raise

STAGE = "value"

SEAMS = ("tool",)

CODES = {
    "raises": ("X1",),
    "raises_custom": ("X1",),
    "raises_base": ("X1",),
    "interrupts": ("X1",),
    "exits": ("X1",),
}


def raises(moment: Moment, plan: Plan, *, message: str = "tool failure") -> Plan:
    """The tool raises RuntimeError before it has done anything."""
    return (Raise("tool", message),)


def raises_custom(moment: Moment, plan: Plan, *, message: str = "tool failure") -> Plan:
    """The tool raises a class of its own whose `str` raises too, before it has done anything."""
    return (Raise("custom", message),)


def raises_base(moment: Moment, plan: Plan, *, message: str = "tool failure") -> Plan:
    """The tool raises what is no `Exception`, as cancelled tasks and test tools do."""
    return (Raise("base", message),)


def interrupts(moment: Moment, plan: Plan, *, message: str = "interrupted") -> Plan:
    """The tool raises KeyboardInterrupt, as if the user had pressed Ctrl-C."""
    return (Raise("interrupt", message),)


def exits(moment: Moment, plan: Plan, *, message: str = "usage: tool [-h]") -> Plan:
    """The tool raises SystemExit, as a command line's parser does at a wrong argument."""
    return (Raise("exit", message),)
