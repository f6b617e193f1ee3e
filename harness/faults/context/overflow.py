"""The prompt is too long, in each of the shapes in which an agent meets it.

They mean the same and want the same cure: a status 400 with the figures in its text, a 413, a stop
reason, an assistant message that a wrapper wrote itself. The shape inside a stream is `in_stream`.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Text
from harness.core.values.plans import Answer, ApiError, Plan, Reply
from harness.core.values.strict import FromOne
from harness.faults.context.words import too_long
from harness.faults.http.said import reply_of, said_instead

STAGE = "value"

SEAMS = ("model",)

ON = "main"

CODES = {
    "prompt_too_long": ("C1", "C17"),
    "reply_does_not_fit": ("C1",),
    "request_too_large": ("C2",),
    "window_exceeded": ("C4",),
    "result_message": ("C5",),
    "window_shrinks": ("C6", "C14"),
    "too_long_after_compaction": ("C12",),
    "too_long_after_tools": ("C16",),
    "too_long_while_open": ("C19",),
}

Tokens = Annotated[int, msgspec.Meta(ge=1)]


def prompt_too_long(
    moment: Moment, plan: Plan, *, tokens: Tokens = 208_380, window_tokens: FromOne = 200_000
) -> Plan:
    """A 400 that the prompt alone is too long, with both counts in its text."""
    return too_long(moment, tokens, window_tokens)


def reply_does_not_fit(
    moment: Moment,
    plan: Plan,
    *,
    tokens: Tokens = 196_758,
    max_tokens: Tokens = 8_192,
    window_tokens: FromOne = 200_000,
) -> Plan:
    """A 400 that prompt and reply together are too long, with three counts in its text."""
    text = (
        f"input length and `max_tokens` exceed context limit: {tokens} + {max_tokens} > "
        f"{window_tokens}, decrease input length or `max_tokens` and try again"
    )
    return (Answer(ApiError(400, "invalid_request_error", text)),)


def request_too_large(moment: Moment, plan: Plan) -> Plan:
    """A 413: too many bytes, and no word of tokens."""
    return (
        Answer(ApiError(413, "request_too_large", "Request exceeds the maximum size of 32 MB")),
    )


def window_exceeded(moment: Moment, plan: Plan) -> Plan:
    """The reply breaks off halfway, and the stop reason says that the window is full."""
    reply = reply_of(plan)
    if reply is None:
        return plan
    text = "".join(block.text for block in reply.blocks if isinstance(block, Text))
    said = (Text(text[: len(text) // 2]),) if len(text) > 1 else ()
    return said_instead(plan, Reply(said, "model_context_window_exceeded", reply.usage))


def result_message(moment: Moment, plan: Plan, *, text: str = "Prompt is too long") -> Plan:
    """A whole answer with status 200 says it in its text, and no token was counted."""
    if reply_of(plan) is None:
        return plan
    counts = {"input_tokens": 0, "output_tokens": 0}
    return said_instead(plan, Reply((Text(text),), "stop_sequence", counts))


def window_shrinks(moment: Moment, plan: Plan, *, window_tokens: FromOne = 1_000) -> Plan:
    """From now on (`often: forever`) the window is this small: another model, a wrong catalogue.

    Below what system text and tools need, nothing fits any more, however short the conversation.
    """
    tokens = moment.call.tokens
    return too_long(moment, tokens, window_tokens) if tokens > window_tokens else plan


def too_long_after_compaction(
    moment: Moment, plan: Plan, *, tokens: Tokens = 201_000, window_tokens: FromOne = 200_000
) -> Plan:
    """A summary was made, and it is still too long: a second compaction follows the first."""
    compacted = moment.past.purpose_calls["compact"] > 0
    return too_long(moment, tokens, window_tokens) if compacted else plan


def too_long_after_tools(
    moment: Moment, plan: Plan, *, tokens: Tokens = 208_380, window_tokens: FromOne = 200_000
) -> Plan:
    """It becomes too long in the middle of a tool loop: the request that carries results."""
    messages = moment.call.messages
    inside = bool(messages and messages[-1].tool_results)
    return too_long(moment, tokens, window_tokens) if inside else plan


def too_long_while_open(
    moment: Moment, plan: Plan, *, tokens: Tokens = 208_380, window_tokens: FromOne = 200_000
) -> Plan:
    """It becomes too long while the model has paused, or a call of it has no result yet."""
    messages = moment.call.messages
    is_open = bool(messages) and messages[-1].role == "assistant"
    return too_long(moment, tokens, window_tokens) if is_open else plan
