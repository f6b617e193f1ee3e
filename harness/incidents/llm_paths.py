"""Which addresses are calls to a model, and in which shape they speak.

Gateways put anything in front of a path, so only its end is looked at.
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
    (r"/model/[^/]+/converse$", "bedrock-converse"),
)

_TABLE = tuple((re.compile(pattern), shape) for pattern, shape in _SHAPES)
_CHANGING = re.compile(r"(?<=/)(?=[^/]*\d)[^/]{12,}")


def shape_of(path: str) -> str:
    """The shape that a path speaks; "" when it is no call to a model that we know."""
    return next((shape for pattern, shape in _TABLE if pattern.search(path)), "")


def refusal(path: str) -> str:
    """Why a path is refused, with ids taken out of it."""
    return f"not an LLM path: {_CHANGING.sub('ID', path) or '/'}"
