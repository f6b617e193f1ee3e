"""Replies that stop for an odd reason, or for one that does not fit what they say."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Block, Opaque, Text
from harness.core.values.plans import Plan, Reply
from harness.faults.model.replies import rewritten, with_calls

STAGE = "value"

SEAMS = ("model",)

CODES = {
    "call_but_end_turn": ("M14",),
    "call_but_max_tokens": ("M14",),
    "call_but_no_stop_reason": ("M14",),
    "refusal": ("M24",),
    "refusal_after_text": ("M24",),
    "refusal_after_call": ("M14", "M24"),
    "pause_turn": ("M25",),
    "context_window_exceeded": ("M26",),
    "degenerate_repetition": ("M27",),
}

WIRES = {"pause_turn": ("anthropic",), "context_window_exceeded": ("anthropic",)}

Category = Literal["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"]

_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


def call_but_end_turn(moment: Moment, plan: Plan) -> Plan:
    """The reply calls a tool, and says that the turn is over."""
    return with_calls(moment, plan, lambda call: (call,), stop="end_turn")


def call_but_max_tokens(moment: Moment, plan: Plan) -> Plan:
    """The reply calls a tool with whole arguments, and ended at its length."""
    return with_calls(moment, plan, lambda call: (call,), stop="max_tokens")


def call_but_no_stop_reason(moment: Moment, plan: Plan) -> Plan:
    """The reply calls a tool, and gives no reason for its end."""
    return with_calls(moment, plan, lambda call: (call,), stop=None)


def refusal(moment: Moment, plan: Plan, *, category: Category | None = None) -> Plan:
    """The model declines, and says nothing; `stop_details` names the category."""
    return rewritten(plan, lambda reply: _refusing(reply, (), category))


def refusal_after_text(
    moment: Moment, plan: Plan, *, category: Category | None = None, text: str = "First, you"
) -> Plan:
    """The model declines in the middle of its answer, whose beginning has been sent."""
    return rewritten(plan, lambda reply: _refusing(reply, (Text(text),), category))


def refusal_after_call(moment: Moment, plan: Plan, *, category: Category | None = None) -> Plan:
    """The model declines behind a call, which is not to be run."""
    bent = with_calls(moment, plan, lambda call: (call,), stop="refusal")
    if bent == plan:
        return plan
    return rewritten(bent, lambda reply: _refusing(reply, reply.blocks, category))


def pause_turn(moment: Moment, plan: Plan, *, text: str = "Let me search for that.") -> Plan:
    """The provider's own tool takes long, so the turn pauses and is to be sent back as it is."""
    blocks = (Text(text), Opaque("server_tool_use", _SEARCH))
    return rewritten(plan, lambda reply: Reply(blocks, "pause_turn", reply.usage))


def context_window_exceeded(moment: Moment, plan: Plan, *, text: str = "To sum up, the") -> Plan:
    """The window was full in the middle of the answer, which counts as a success."""
    stop = "model_context_window_exceeded"
    return rewritten(plan, lambda reply: Reply((Text(text),), stop, reply.usage))


def degenerate_repetition(
    moment: Moment,
    plan: Plan,
    *,
    words: str = "and so on ",
    times: Annotated[int, msgspec.Meta(ge=2, le=1_000_000)] = 400,
) -> Plan:
    """The same few words up to the length limit."""
    text = Text(words * times)
    return rewritten(plan, lambda reply: Reply((text,), "max_tokens", reply.usage))


def _refusing(reply: Reply, blocks: tuple[Block, ...], category: str | None) -> Reply:
    details = {"type": "refusal", "category": category, "explanation": None}
    extra = {**reply.extra, "stop_details": details}
    return Reply(blocks, "refusal", reply.usage, extra)
