"""The call that is to make the conversation shorter fails, or brings no summary worth having."""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Text, Thinking, ToolUse
from harness.core.values.plans import Answer, ApiError, Close, Plan, Reply, Wait
from harness.core.values.strict import Seconds
from harness.faults.context.words import too_long
from harness.faults.http.said import reply_of, said_instead

STAGE = "value"

SEAMS = ("model",)

ON = "compact"

CODES = {
    "compaction_overloaded": ("C7",),
    "compaction_refused": ("C7",),
    "compaction_too_long": ("C7",),
    "compaction_hangs": ("C7",),
    "summary_cut_off": ("C7",),
    "summary_empty": ("C8",),
    "summary_blank": ("C8",),
    "summary_only_thought": ("C8",),
    "summary_repeats": ("C9",),
    "summary_larger": ("C9",),
    "summary_forgets": ("C10",),
    "summary_calls_a_tool": ("C10",),
}

LONGEST_MS = 10**10

Factor = Annotated[int, msgspec.Meta(ge=2, le=100)]


def compaction_overloaded(moment: Moment, plan: Plan) -> Plan:
    """The request for a summary is answered 529, which the SDK tries again."""
    return (Answer(ApiError(529, "overloaded_error", "Overloaded")),)


def compaction_refused(moment: Moment, plan: Plan) -> Plan:
    """The model declines to summarise: status 200, nothing said, the stop reason `refusal`."""
    return said_instead(plan, Reply((), "refusal"))


def compaction_too_long(
    moment: Moment, plan: Plan, *, tokens: int = 208_380, window_tokens: int = 200_000
) -> Plan:
    """The request for a summary is itself too long."""
    return too_long(moment, tokens, window_tokens)


def compaction_hangs(moment: Moment, plan: Plan, *, wait_s: Seconds | None = None) -> Plan:
    """The request for a summary is not answered for `wait_s` seconds (for ever), then cut."""
    wait_ms = LONGEST_MS if wait_s is None else min(int(wait_s * 1000), LONGEST_MS)
    return (Wait(wait_ms), Close())


def summary_cut_off(moment: Moment, plan: Plan) -> Plan:
    """Half a summary comes, and the stop reason is `max_tokens`."""
    text = _text(plan)
    return _saying(plan, text[: max(1, len(text) // 2)], stop="max_tokens")


def summary_empty(moment: Moment, plan: Plan) -> Plan:
    """The summary has no content at all."""
    return said_instead(plan, Reply())


def summary_blank(moment: Moment, plan: Plan) -> Plan:
    """The summary is white space."""
    return _saying(plan, " \n\n ")


def summary_only_thought(moment: Moment, plan: Plan) -> Plan:
    """The summary was thought and never said."""
    return said_instead(plan, Reply((Thinking(_text(plan) or "…", signature="c2lnbmVk"),)))


def summary_repeats(moment: Moment, plan: Plan) -> Plan:
    """The summary is, word for word, what it was to summarise."""
    asked = [message.text for message in moment.call.messages if message.text]
    return _saying(plan, asked[-1]) if asked else plan


def summary_larger(moment: Moment, plan: Plan, *, factor: Factor = 2) -> Plan:
    """The summary is `factor` times as long as what it was to summarise."""
    asked = "".join(message.text for message in moment.call.messages)
    return _saying(plan, "And so the story went on. " * (len(asked) * factor // 26 + 1))


def summary_forgets(
    moment: Moment, plan: Plan, *, text: str = "There was a conversation. Nothing is open."
) -> Plan:
    """The summary leaves out what the user wants, what must hold, and what is open."""
    return _saying(plan, text)


def summary_calls_a_tool(moment: Moment, plan: Plan, *, tool: str = "summarise") -> Plan:
    """In place of a summary the model calls a tool that nobody offered."""
    use = ToolUse(moment.draws.identifier("toolu_", moment.call.key, "fault"), tool, {})
    return said_instead(plan, Reply((use,), "tool_use"))


def _text(plan: Plan) -> str:
    reply = reply_of(plan)
    blocks = reply.blocks if reply else ()
    return "".join(block.text for block in blocks if isinstance(block, Text))


def _saying(plan: Plan, text: str, *, stop: str = "end_turn") -> Plan:
    return said_instead(plan, Reply((Text(text),), stop))
