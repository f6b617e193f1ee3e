"""The tool's answer belongs to another call, comes twice, or is not the agent's alone.

In one process a tool shares memory with its agent: it can change the arguments that it was given,
and what it has returned. Over HTTP everything is a copy, and those two answer like any other.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Plan, ToolAnswer
from harness.faults.tools.answers import answering, effects, text_of

STAGE = "value"

SEAMS = ("tool",)

CODES = {
    "result_of_another_call": ("X12",),
    "result_twice": ("X12",),
    "changes_its_input": ("X14",),
    "changes_its_answer": ("X14",),
}


def result_of_another_call(moment: Moment, plan: Plan) -> Plan:
    """The tool answers with a result block that names another call."""
    block = {"type": "tool_result", "tool_use_id": "toolu_of_another", "content": text_of(plan)}
    return answering(plan, [block])


def result_twice(moment: Moment, plan: Plan) -> Plan:
    """The tool's answer comes twice in one."""
    part = {"type": "text", "text": text_of(plan) or "done"}
    return answering(plan, [part, part])


def changes_its_input(moment: Moment, plan: Plan) -> Plan:
    """The tool changes the arguments that it was given, now and when it is called again."""
    return (*effects(plan), Answer(ToolAnswer(text_of(plan), how="input_changed")))


def changes_its_answer(moment: Moment, plan: Plan) -> Plan:
    """The tool keeps what it returned, and changes it whenever it is called again."""
    return (*effects(plan), Answer(ToolAnswer(text_of(plan), how="changed_later")))
