"""The same call with a result that changes: polling, which is right and no loop.

The one fault of this layer that bends a tool's answer, for what tells polling from a loop is the
result.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Plan, ToolAnswer

STAGE = "value"

SEAMS = ("tool",)

CODES = {"changing_result": ("M20",)}

Polls = Annotated[int, msgspec.Meta(ge=1, le=1000)]


def changing_result(moment: Moment, plan: Plan, *, polls: Polls = 5) -> Plan:
    """The first `polls` answers of a tool say that the job is not done, each how far it is."""
    if moment.call.seam != "tool" or moment.call.n > polls:
        return plan
    return (Answer(ToolAnswer(f"pending: {moment.call.n} of {polls + 1}")),)
