"""Single fields of an answer that is whole otherwise: missing, or not what they should be.

They are bent in the bytes, for a reply has no such fields: the wire adds them. In a stream they
stand in the event that opens it and in those that count.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.faults.http.rewritten import rewritten

STAGE = "bytes"

SEAMS = ("model", "provider")

CODES = {
    "missing_usage": ("H15",),
    "model_echo_differs": ("H16",),
    "count_tokens_disagrees": ("H20", "C15"),
}

_PROMPT = ("input_tokens", "prompt_tokens")


def missing_usage(moment: Moment, plan: Plan) -> Plan:
    """Nothing is counted: the usage is left out."""
    return rewritten(plan, lambda value: {k: v for k, v in value.items() if k != "usage"})


def model_echo_differs(
    moment: Moment, plan: Plan, *, model: str = "claude-haiku-4-5-20251001"
) -> Plan:
    """The answer names another model than the request: what it costs goes by that one."""
    return rewritten(plan, lambda value: {**value, "model": model} if "model" in value else value)


def count_tokens_disagrees(
    moment: Moment, plan: Plan, *, factor: Annotated[float, msgspec.Meta(gt=0)] = 1.3
) -> Plan:
    """The prompt's tokens are counted otherwise than the refusals count: `factor` times as many."""
    return rewritten(plan, lambda value: _counted(value, factor))


def _counted(value: dict[str, Any], factor: float) -> dict[str, Any]:
    if isinstance(value.get("usage"), dict):
        value = {**value, "usage": _counted(value["usage"], factor)}
    counts = {name: value[name] for name in _PROMPT if isinstance(value.get(name), int)}
    return value | {name: round(count * factor) for name, count in counts.items()}
