"""The agent's process is killed and started again on its session, in every phase of a turn."""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.plans import Kill, Plan

STAGE = "value"

SEAMS = ("model", "tool", "inbox", "outbox")

CODES = {"killed": ("G9",), "poison_message": ("G11",)}

KILLS = ("killed", "poison_message")


def killed(moment: Moment, plan: Plan, *, at: Literal["before", "after"] = "before") -> Plan:
    """The agent is killed at a call; `often` says how often, `limits.restarts` how often at most.

    `before` the world has done anything: no reply was made, no tool has run. `after` it has done
    everything: a tool's effect has happened, a reply was billed, a message has arrived, and the
    agent has not heard of it.
    """
    return (Kill(),) if at == "before" else (*plan, Kill())


def poison_message(moment: Moment, plan: Plan, *, message: str = "m1") -> Plan:
    """The agent dies whenever it works on the inbound message of that id (with `often`)."""
    call = moment.call
    return (Kill(),) if moment.past.open_inbound(call.session) == message else plan
