"""How a wire says that a prompt is too long; nothing here is a fault."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, ApiError, Plan
from harness.faults.http.said import refusal


def too_long(moment: Moment, tokens: int, window_tokens: int) -> Plan:
    """The refusal of a prompt of so many tokens, in the words of the run's wire where it has them.

    A prompt is never refused for a window that it fits into, so `tokens` is at least one more.
    """
    tokens = max(tokens, window_tokens + 1)
    said = refusal(moment, "V23", tokens=tokens, window=window_tokens)
    text = in_words(tokens, window_tokens)
    return said or (Answer(ApiError(400, "invalid_request_error", text)),)


def in_words(tokens: int, window_tokens: int) -> str:
    """What Anthropic says, and many who speak its wire."""
    return f"prompt is too long: {tokens} tokens > {window_tokens} maximum"
