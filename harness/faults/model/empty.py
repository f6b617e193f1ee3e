"""Replies that say nothing: no blocks, blank text, or thoughts alone."""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Block, Text, Thinking, ToolUse
from harness.core.values.plans import Plan, Reply
from harness.faults.model.replies import rewritten

STAGE = "value"

SEAMS = ("model",)

CODES = {
    "empty_content": ("M1",),
    "whitespace_text": ("M2",),
    "thinking_only": ("M3",),
    "blank_text_before_call": ("M4",),
    "tool_use_without_a_call": ("M15",),
    "claims_success": ("M33",),
}

SIGNATURE = "c2lnbmVk"

Blank = Annotated[str, msgspec.Meta(pattern=r"^\s+$")]
"""White space and nothing else."""


def empty_content(moment: Moment, plan: Plan) -> Plan:
    """The reply has no blocks, and ends the turn."""
    return _saying(plan)


def whitespace_text(moment: Moment, plan: Plan, *, text: Blank = " \n") -> Plan:
    """The reply is one text of white space."""
    return _saying(plan, Text(text))


def thinking_only(moment: Moment, plan: Plan, *, text: str = "Let me think about that.") -> Plan:
    """The reply is a signed thought and nothing else."""
    return _saying(plan, Thinking(text, SIGNATURE))


def blank_text_before_call(moment: Moment, plan: Plan) -> Plan:
    """An empty text block stands before the calls; a reply without calls stays."""

    def rewrite(reply: Reply) -> Reply:
        calls = tuple(block for block in reply.blocks if isinstance(block, ToolUse))
        return msgspec.structs.replace(reply, blocks=(Text(""), *calls)) if calls else reply

    return rewritten(plan, rewrite)


def tool_use_without_a_call(moment: Moment, plan: Plan, *, text: str = "I will look.") -> Plan:
    """The reply stops for a tool, and calls none."""
    return rewritten(plan, lambda reply: Reply((Text(text),), "tool_use", reply.usage))


def claims_success(
    moment: Moment, plan: Plan, *, text: str = "Done, it has been written and sent."
) -> Plan:
    """The model says that it has done what it has not called the tool for; a reply without calls
    stays."""

    def rewrite(reply: Reply) -> Reply:
        calls = any(isinstance(block, ToolUse) for block in reply.blocks)
        return Reply((Text(text),), "end_turn", reply.usage) if calls else reply

    return rewritten(plan, rewrite)


def _saying(plan: Plan, *blocks: Block) -> Plan:
    return rewritten(plan, lambda reply: Reply(blocks, "end_turn", reply.usage))
