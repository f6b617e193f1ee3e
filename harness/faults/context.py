"""Context faults: the conversation does not fit, or its compaction fails.

Overflow strikes `on: main` by default, a summary's faults `on: compact`; `on: aux` means background
calls. An overflow has several shapes: a 400 with figures in its text, a 413, a stop reason, an
error event, an assistant message from a wrapper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Text, Thinking, ToolUse
from harness.core.values.plans import Answer, ApiError, Plan, Reply, Send
from harness.core.values.strict import Count, FromOne
from harness.faults.shared.error_answers import refusal, too_long
from harness.faults.shared.replies import reply_of, with_reply
from harness.faults.shared.stream_events import error_instead

STAGE = {"too_long_in_the_stream": "bytes"}
SEAMS = ("model",)
ON = {
    "*": "main",
    **dict.fromkeys(("summary_cut_off", "summary_only_thought", "summary_repeats"), "compact"),
    **dict.fromkeys(("summary_larger", "summary_calls_a_tool"), "compact"),
}

Tokens = Annotated[int, msgspec.Meta(ge=1)]


def reply_does_not_fit(
    moment: Moment,
    plan: Plan,
    *,
    tokens: Tokens = 196_758,
    max_tokens: Tokens = 8_192,
    window_tokens: FromOne = 200_000,
) -> Plan:
    """A 400 that prompt and reply together are too long, with the counts in its text.

    Responses and Gemini have no words for that: they refuse the prompt as too long.
    """
    total = tokens + max_tokens
    counts = {"tokens": tokens, "max_tokens": max_tokens, "total": total}
    own = refusal(moment, "V24", window=window_tokens, **counts)
    return own or _too_long(moment, total, window_tokens)


def window_exceeded(moment: Moment, plan: Plan) -> Plan:
    """The reply breaks off halfway, and the stop reason says that the window is full."""
    reply = reply_of(plan)
    if reply is None:
        return plan
    text = _text(plan)
    said = (Text(text[: len(text) // 2]),) if len(text) > 1 else ()
    return with_reply(plan, Reply(said, moment.traits.window_full, reply.usage))


def result_message(moment: Moment, plan: Plan, *, text: str = "Prompt is too long") -> Plan:
    """A whole answer with status 200 says it in its text, and no token was counted."""
    if reply_of(plan) is None:
        return plan
    counts = {"input_tokens": 0, "output_tokens": 0}
    return with_reply(plan, Reply((Text(text),), "stop_sequence", counts))


def window_shrinks(moment: Moment, plan: Plan, *, window_tokens: FromOne = 1_000) -> Plan:
    """From now on (`often: forever`) the window is this small: another model, a wrong catalogue.

    Below what system text and tools need, nothing fits any more, however short the conversation.
    """
    tokens = moment.call.tokens
    return _too_long(moment, tokens, window_tokens) if tokens > window_tokens else plan


def too_long_in_the_stream(
    moment: Moment,
    plan: Plan,
    *,
    after: Count = 1,
    tokens: int = 208_380,
    window_tokens: int = 200_000,
) -> Plan:
    """After `after` events an error event says that the prompt is too long, and the stream ends."""
    (refused,) = _too_long(moment, tokens, window_tokens)
    assert isinstance(refused, Answer)
    assert isinstance(refused.value, ApiError)
    return error_instead(plan, after, Send(moment.traits.error_event(refused.value)))


def thinking_before(moment: Moment, plan: Plan, *, text: str = "Let me see.") -> Plan:
    """The reply begins with signed thinking; with `often`, every one does, up to the cut."""
    reply = reply_of(plan)
    if reply is None or any(isinstance(block, Thinking) for block in reply.blocks):
        return plan
    thought = Thinking(text)
    return with_reply(plan, msgspec.structs.replace(reply, blocks=(thought, *reply.blocks)))


Factor = Annotated[int, msgspec.Meta(ge=2, le=100)]


def summary_cut_off(moment: Moment, plan: Plan) -> Plan:
    """Half a summary comes, and the stop reason is `max_tokens`."""
    text = _text(plan)
    return _saying(plan, text[: max(1, len(text) // 2)], stop="max_tokens")


def summary_only_thought(moment: Moment, plan: Plan) -> Plan:
    """The summary comes as a thought, and nothing is said."""
    return with_reply(plan, Reply((Thinking(_text(plan) or "…"),)))


def summary_repeats(moment: Moment, plan: Plan) -> Plan:
    """The summary is, word for word, what it was to summarise."""
    asked = [message.text for message in moment.call.messages if message.text]
    return _saying(plan, asked[-1]) if asked else plan


def summary_larger(moment: Moment, plan: Plan, *, factor: Factor = 2) -> Plan:
    """The summary is `factor` times as long as what it was to summarise."""
    asked = "".join(message.text for message in moment.call.messages)
    return _saying(plan, "And so the story went on. " * (len(asked) * factor // 26 + 1))


def summary_calls_a_tool(moment: Moment, plan: Plan, *, tool: str = "summarise") -> Plan:
    """In place of a summary the model calls a tool that was not offered."""
    use = ToolUse(moment.draws.identifier("toolu_", moment.call.key, "fault"), tool, {})
    return with_reply(plan, Reply((use,), "tool_use"))


def _text(plan: Plan) -> str:
    reply = reply_of(plan)
    blocks = reply.blocks if reply else ()
    return "".join(block.text for block in blocks if isinstance(block, Text))


def _saying(plan: Plan, text: str, *, stop: str = "end_turn") -> Plan:
    return with_reply(plan, Reply((Text(text),), stop))


def _too_long(moment: Moment, tokens: int, window_tokens: int) -> Plan:
    """The refusal of a prompt of a given number of tokens.

    A prompt is never refused for a window that it fits into, so `tokens` is at least one more.
    """
    return too_long(moment, max(tokens, window_tokens + 1), window_tokens)


def _summary(moment: Moment, plan: Plan, *, text: str = "", stop: str = "end_turn") -> Plan:
    """A template of presets: a summary of this text, or of no block at all."""
    return with_reply(plan, Reply((Text(text),) if text else (), stop))


_OCCASIONS: dict[str, Callable[[Moment], bool]] = {
    "": lambda moment: True,
    "compacted": lambda moment: moment.past.purpose_calls["compact"] > 0,
    "after tools": lambda moment: any(last.tool_results for last in moment.call.messages[-1:]),
    "open": lambda moment: any(m.role == "assistant" for m in moment.call.messages[-1:]),
}
"""When a prompt becomes too long."""


def _overflow(
    moment: Moment, plan: Plan, *, tokens: Tokens, window_tokens: FromOne, when: str = ""
) -> Plan:
    """A template of presets: the prompt is too long, with both counts in the refusal's text."""
    return _too_long(moment, tokens, window_tokens) if _OCCASIONS[when](moment) else plan
