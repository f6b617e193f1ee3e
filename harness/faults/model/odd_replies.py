"""Replies that are empty, stop for an odd reason, or hold text that is hard to store and send.

Empty means no blocks, blank text, or thoughts alone.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Block, Opaque, Text, Thinking, ToolUse
from harness.core.values.plans import Plan, Reply
from harness.faults.shared.replies import may_call, rewritten, with_calls

STAGE = "value"
SEAMS = ("model",)
# Smaller than usual: at its usual size it takes long, or exceeds the limits of a run.
DRAWN = {"huge_text": ({"size_bytes": 20_000},)}
WIRES = {"pause_turn": ("anthropic",)}


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
    return _saying(plan, Thinking(text))


def blank_text_before_call(moment: Moment, plan: Plan) -> Plan:
    """An empty text block stands before the calls; a reply without calls stays."""

    def rewrite(reply: Reply) -> Reply:
        calls = tuple(block for block in reply.blocks if isinstance(block, ToolUse))
        return msgspec.structs.replace(reply, blocks=(Text(""), *calls)) if calls else reply

    return rewritten(plan, rewrite)


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


Category = Literal["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"]

_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


def refusal(moment: Moment, plan: Plan, *, category: Category | None = None) -> Plan:
    """The model declines, and says nothing; `stop_details` names the category."""
    return rewritten(plan, lambda reply: _refusing(reply, (), category))


def refusal_after_text(
    moment: Moment, plan: Plan, *, category: Category | None = None, text: str = "First, you"
) -> Plan:
    """The model declines in the middle of its answer, whose beginning has been sent."""
    return rewritten(plan, lambda reply: _refusing(reply, (Text(text),), category))


def refusal_after_call(moment: Moment, plan: Plan, *, category: Category | None = None) -> Plan:
    """The model declines after a call, which is not to be run."""
    bent = with_calls(moment, plan, lambda call: (call,), stop="refusal")
    if bent == plan:
        return plan
    return rewritten(bent, lambda reply: _refusing(reply, reply.blocks, category))


def pause_turn(moment: Moment, plan: Plan, *, text: str = "Let me search for that.") -> Plan:
    """The provider's own tool takes long, so the turn pauses and is to be sent back as it is."""
    if not may_call(moment):
        return plan
    blocks = (Text(text), Opaque("server_tool_use", _SEARCH))
    return rewritten(plan, lambda reply: Reply(blocks, "pause_turn", reply.usage))


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


_CALL = '<tool_call>{"name": "%s", "arguments": {"all": true}}</tool_call>'

Bytes = Annotated[int, msgspec.Meta(ge=1, le=100_000_000)]


def imitated_call(moment: Moment, plan: Plan) -> Plan:
    """The text spells out a tool call, as some models do in place of making one."""
    name = moment.tools[0].name if moment.tools else "delete"
    return _preceded_by(plan, _CALL % name)


def huge_text(moment: Moment, plan: Plan, *, size_bytes: Bytes = 10_000_000) -> Plan:
    """The text is very long."""
    return _preceded_by(plan, "x" * size_bytes)


def secret_marker(moment: Moment, plan: Plan, *, marker: str = "CANARY-7f3a9c") -> Plan:
    """The text gives a secret away: a marker that a data-flow check can look for."""
    return _preceded_by(plan, f"The key is {marker}.")


def prompt_echo(moment: Moment, plan: Plan) -> Plan:
    """The text repeats the system's text and the user's last one."""
    asked = [m.text for m in moment.call.messages if m.role == "user" and m.text]
    return _preceded_by(plan, "\n".join([moment.call.system, *asked[-1:]]).strip())


def _preceded_by(plan: Plan, text: str) -> Plan:
    """The plan with a text before everything else that its reply says."""
    if not text:
        return plan
    return rewritten(
        plan, lambda reply: msgspec.structs.replace(reply, blocks=(Text(text), *reply.blocks))
    )


def _begins(moment: Moment, plan: Plan, *, text: str) -> Plan:
    """A template of presets: the reply begins with this text."""
    return _preceded_by(plan, text)


def _stops(moment: Moment, plan: Plan, *, stop: str | None) -> Plan:
    """A template of presets: the reply calls a tool, and stops for this reason."""
    return with_calls(moment, plan, lambda call: (call,), stop=stop)


def _says(moment: Moment, plan: Plan, *, text: str, stop: str) -> Plan:
    """A template of presets: the reply is this text, and stops for this reason."""
    return rewritten(plan, lambda reply: Reply((Text(text),), stop, reply.usage))
