"""What a newer provider sends and an older client has never heard of: it is to be left out."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan, Step
from harness.faults.sse.events import event, frame, of_kind, opened, spliced, value

STAGE = "bytes"

SEAMS = ("model",)

CODES = {
    "delta_of_another_kind": ("S11",),
    "unknown_delta": ("S11",),
    "unknown_event": ("S11",),
    "unknown_block": ("S11",),
}

WIRES = {
    "delta_of_another_kind": ("anthropic",),
    "unknown_delta": ("anthropic",),
    "unknown_event": ("anthropic", "openai-responses"),
    "unknown_block": ("anthropic",),
}

_OTHERS = {
    "text": {"type": "thinking_delta", "thinking": "Hm."},
    "thinking": {"type": "text_delta", "text": "Hm."},
    "tool_use": {"type": "text_delta", "text": "Hm."},
}


def delta_of_another_kind(moment: Moment, plan: Plan) -> Plan:
    """A block gets a piece that is not of its kind, beside its own."""
    return spliced(plan, of_kind("content_block_start"), _with_a_foreign_piece)


def unknown_delta(moment: Moment, plan: Plan, *, type: str = "mood_delta") -> Plan:
    """A block gets a piece of a kind that nobody knows, beside its own."""
    return spliced(
        plan, of_kind("content_block_start"), lambda step: (step, _piece(step, {"type": type}))
    )


def unknown_event(moment: Moment, plan: Plan, *, type: str = "weather") -> Plan:
    """Behind the first event comes one of a type that nobody knows."""
    if moment.wire == "openai-responses":
        type = f"response.{type}"
    return spliced(
        plan,
        of_kind("message_start", "response.created"),
        lambda step: (step, frame({"type": type, "value": 1}, type)),
    )


def unknown_block(moment: Moment, plan: Plan, *, type: str = "hologram") -> Plan:
    """Behind the last block comes one of a type that nobody knows."""
    index = len([s for s in opened(plan) if value(s).get("type") == "content_block_start"])
    block = {"type": type, "data": "?"}
    begin = {"type": "content_block_start", "index": index, "content_block": block}
    end = {"type": "content_block_stop", "index": index}
    return spliced(plan, of_kind("message_delta"), lambda step: (event(begin), event(end), step))


def _with_a_foreign_piece(step: Step) -> tuple[Step, ...]:
    block = value(step).get("content_block")
    other = _OTHERS.get(block.get("type", "")) if isinstance(block, dict) else None
    return (step, _piece(step, other)) if other else (step,)


def _piece(step: Step, delta: dict[str, str]) -> Step:
    index = value(step).get("index")
    return event({"type": "content_block_delta", "index": index, "delta": delta})
