"""The prompt is too long, and the stream has begun with 200 before anybody counted."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.core.values.strict import Count
from harness.faults.context.words import in_words
from harness.faults.sse import errors

STAGE = "bytes"

SEAMS = ("model",)

ON = "main"

CODES = {"too_long_in_the_stream": ("C3",)}


def too_long_in_the_stream(
    moment: Moment,
    plan: Plan,
    *,
    after: Count = 1,
    tokens: int = 208_380,
    window_tokens: int = 200_000,
) -> Plan:
    """After `after` events an error event says that the prompt is too long, and the stream ends."""
    text = in_words(tokens, window_tokens)
    return errors.error_event(moment, plan, after=after, type="invalid_request_error", message=text)
