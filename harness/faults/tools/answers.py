"""Tool plans taken apart and put together again: what the faults of this layer have in common."""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.core.values.plans import Answer, Effect, Plan, ToolAnswer


def effects(plan: Plan) -> Plan:
    """What the tool does to the outside world, without what it says."""
    return tuple(step for step in plan if isinstance(step, Effect))


def answering(plan: Plan, content: Json, *, is_error: bool = False) -> Plan:
    """The tool does what it does, and answers this."""
    return (*effects(plan), Answer(ToolAnswer(content, is_error)))


def text_of(plan: Plan) -> str:
    """What the tool says in words; "" where it says nothing, or no text."""
    values = (step.value for step in plan if isinstance(step, Answer))
    content = next((v.content for v in values if isinstance(v, ToolAnswer)), "")
    return content if isinstance(content, str) else ""


def with_text(plan: Plan, text: str) -> Plan:
    """The tool does what it does, and answers its own text with this one behind it."""
    return answering(plan, text_of(plan) + text)
