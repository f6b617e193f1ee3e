"""Replies of a plan; nothing here is a fault."""

from __future__ import annotations

from collections.abc import Callable

from harness.core.values.plans import Answer, Plan, Reply


def reply_of(plan: Plan) -> Reply | None:
    """What the model would say, None where it says nothing."""
    values = (step.value for step in plan if isinstance(step, Answer))
    return next((value for value in values if isinstance(value, Reply)), None)


def with_reply(plan: Plan, reply: Reply) -> Plan:
    """The plan with another reply in place of its own."""
    return tuple(
        Answer(reply) if isinstance(s, Answer) and isinstance(s.value, Reply) else s for s in plan
    )


def rewritten(plan: Plan, rewrite: Callable[[Reply], Reply]) -> Plan:
    """The plan with its first reply rewritten; an error, or no answer at all, stays."""
    for place, step in enumerate(plan):
        if isinstance(step, Answer) and isinstance(step.value, Reply):
            return (*plan[:place], Answer(rewrite(step.value)), *plan[place + 1 :])
    return plan
