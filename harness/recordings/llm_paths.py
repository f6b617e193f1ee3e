"""Which addresses are calls to a model, and in which shape they speak.

Gateways put anything in front of a path, so only its end is looked at. An address that is none is
refused with a reason: some belong to a model's provider and still hold no conversation.
"""

from __future__ import annotations

import re

_SHAPES: tuple[tuple[str, str], ...] = (
    (r"/v1/messages$", "anthropic"),
    (r"/model/[^/]+/invoke(-with-response-stream)?$", "anthropic"),
    (r":(rawPredict|streamRawPredict)$", "anthropic"),
    (r"/chat/completions$", "openai-chat"),
    (r"/(v2|api)/chat$", "openai-chat"),
    (r"/responses$", "openai-responses"),
    (r":(generateContent|streamGenerateContent)$", "gemini"),
    (r"/model/[^/]+/converse(-stream)?$", "bedrock-converse"),
)

_NO_TRANSCRIPT: tuple[tuple[str, str], ...] = (
    (r"/v1/(complete|completions)$", "a text completion, which has no messages"),
    (r"/responses/compact$", "a compaction, whose answer is no message of a model"),
    (r"/messages/batches$", "a batch, whose answers come elsewhere"),
    (r"/(count_tokens|input_tokens)$|:countTokens$", "a count of tokens, no model answers"),
)
"""What a provider serves beside its models, and why it gives no transcript."""

_TABLE = tuple((re.compile(pattern), shape) for pattern, shape in _SHAPES)
_REASONS = tuple((re.compile(pattern), reason) for pattern, reason in _NO_TRANSCRIPT)
_CHANGING = re.compile(r"(?<=/)((?=[^/]*\d)[^/]{12,}|REDACTED[A-Z_]*)")


def shape_of(path: str) -> str:
    """The shape that a path speaks; "" when it is no call to a model that we know."""
    return next((shape for pattern, shape in _TABLE if pattern.search(path)), "")


def refusal(path: str, method: str = "POST") -> str:
    """Why a path is refused, with ids taken out of it."""
    reasons = (reason for pattern, reason in _REASONS if pattern.search(path))
    address = f"{method} {_CHANGING.sub('ID', path) or '/'}"
    return f"{next(reasons, 'no LLM traffic')}: {address}"
