"""The model's window: how large a history is, and what of it fits.

Sizes are estimates (four bytes a token). When a refusal names the real count and the maximum, they
correct the estimate; so nothing here needs to know a model. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from harness.core.messages import Block, Message, Text, ToolResult, canonical

BYTES_PER_TOKEN = 4
BUDGET_TOKENS = 50_000
"""What a rebuilt history may have when the refusal names no maximum."""

SMALLEST_TEXT = 200
_COUNTED = (
    re.compile(r"(?P<got>\d+) tokens > (?P<most>\d+)"),
    re.compile(r"(?P<got>\d+) \+ \d+ > (?P<most>\d+)"),
)


def estimate_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens the messages have."""
    return sum(len(canonical(message).encode()) for message in messages) // BYTES_PER_TOKEN


def budget_tokens(refused: Sequence[Message], refusal: str) -> int:
    """How many (estimated) tokens a smaller request may have: half the window, or half of what
    was refused, and at most `BUDGET_TOKENS` when the window is unknown."""
    had = max(estimate_tokens(refused), 1)
    for pattern in _COUNTED:
        if found := pattern.search(refusal):
            got, most = int(found["got"]), int(found["most"])
            return had * most // (2 * max(got, most, 1))
    return min(had // 2, BUDGET_TOKENS)


def is_said(message: Message) -> bool:
    """Whether a message begins a turn: the user says something, and answers no call."""
    return message.role == "user" and bool(message.blocks) and not message.tool_results


def fit(messages: Sequence[Message], budget: int) -> list[Message]:
    """The newest turns that fit into `budget` tokens, at least the turn that is going on.

    Whole turns are left out, the oldest first; only the texts of the last one are shortened. The
    first message says that something is missing, so the list differs from every other request.
    """
    starts = [i for i, message in enumerate(messages) if is_said(message)] or [0]
    kept = _shortened(messages[starts[-1] :], budget)
    start = starts[-1]
    for earlier in reversed(starts[:-1]):
        if estimate_tokens(messages[earlier:start]) + estimate_tokens(kept) > budget:
            break
        kept = [*messages[earlier:start], *kept]
        start = earlier
    return [_marked(kept[0], start), *kept[1:]] if kept else []


def _marked(first: Message, left_out: int) -> Message:
    mark = f"[The conversation was too long. {left_out} earlier messages were left out.]"
    return Message(first.role, (*first.blocks, Text(mark)))


def _shortened(messages: Sequence[Message], budget: int) -> list[Message]:
    if estimate_tokens(messages) <= budget:
        return list(messages)
    blocks = sum(len(message.blocks) for message in messages)
    most = max(SMALLEST_TEXT, budget * BYTES_PER_TOKEN // max(blocks, 1))
    return [Message(m.role, tuple(_short(b, most) for b in m.blocks)) for m in messages]


def _short(block: Block, most: int) -> Block:
    if isinstance(block, Text):
        return msgspec.structs.replace(block, text=clip(block.text, most))
    if isinstance(block, ToolResult):
        return msgspec.structs.replace(block, content=clip(block.text, most))
    return block


def clip(text: str, most: int) -> str:
    """The text in at most about `most` characters: its beginning and its end."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"
