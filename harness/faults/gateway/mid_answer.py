"""The agent's process is killed while the answer of the model comes in."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Kill, Plan, Send
from harness.core.values.strict import Count

STAGE = "bytes"

SEAMS = ("model",)

CODES = {"killed_mid_answer": ("G9",)}

KILLS = ("killed_mid_answer",)


def killed_mid_answer(moment: Moment, plan: Plan, *, after: Count = 3) -> Plan:
    """`after` events of a stream have come, then the agent is killed."""
    sends = [place for place, step in enumerate(plan) if isinstance(step, Send)]
    return plan if len(sends) <= after else (*plan[: sends[after]], Kill())
