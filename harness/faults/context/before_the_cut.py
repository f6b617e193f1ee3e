"""What stands in the conversation when it is cut: thinking that is signed for what came before."""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Thinking
from harness.core.values.plans import Plan
from harness.faults.http.said import reply_of, said_instead

STAGE = "value"

SEAMS = ("model",)

ON = "main"

CODES = {"thinking_before": ("C18",)}


def thinking_before(moment: Moment, plan: Plan, *, text: str = "Let me see.") -> Plan:
    """The reply begins with signed thinking; with `often`, every one does, up to the cut."""
    reply = reply_of(plan)
    if reply is None or any(isinstance(block, Thinking) for block in reply.blocks):
        return plan
    thought = Thinking(text, signature="c2lnbmVk")
    return said_instead(plan, msgspec.structs.replace(reply, blocks=(thought, *reply.blocks)))
