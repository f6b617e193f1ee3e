"""The model's context window: the size of a history, and the part of it that fits. Pure.

Sizes are estimates (four bytes a token). A refusal that names the count and the maximum corrects
them; otherwise the model's name gives the window. A smaller request leaves room for the next
message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from harness.core.values.messages import Block, Message, Text, ToolResult, canonical

BYTES_PER_TOKEN = 4

RESERVE_TOKENS = 60_000
"""The tokens of a window that stay free, for the reply and the next steps."""

DEFAULT_TARGET_TOKENS = 120_000
"""The tokens of a request for an unknown window."""

REBUILD_TOKENS = (50_000, 15_000)
"""The largest size in tokens of a history rebuilt from the store, at the first and the second
attempt."""

BARE_TOKENS = 5_000
"""With a budget up to this, only the current turn is sent."""

# The first match counts: a name with the mark of a million tokens says `claude` too.
_WINDOWS = (
    (re.compile(r"\[1m\]|-1m\b", re.IGNORECASE), 1_000_000),
    (re.compile(r"claude", re.IGNORECASE), 200_000),
)
SMALLEST_TEXT_BYTES = 200
# How refusals for size word the size of the prompt and the window, in different APIs.
_COUNTED = (
    re.compile(r"(?P<got>\d{1,15}) tokens > (?P<most>\d{1,15})"),
    re.compile(r"(?P<got>\d{1,15}) \+ \d{1,15} > (?P<most>\d{1,15})"),
    re.compile(r"length is (?P<most>\d+) tokens\D*(?P<got>\d+) tokens"),
    re.compile(r"count \((?P<got>\d+)\) exceeds\D*\((?P<most>\d+)\)"),
)


def estimate_tokens(messages: Sequence[Message]) -> int:
    """The estimated number of tokens of the messages."""
    return sum(len(canonical(message).encode()) for message in messages) // BYTES_PER_TOKEN


def window_of(model: str) -> int | None:
    """The window of a model in tokens, by its name; None for an unknown name."""
    return next((tokens for name, tokens in _WINDOWS if name.search(model)), None)


def target_tokens(window: int | None) -> int:
    """The tokens of a smaller request: the window minus the reserve, or half of a small window."""
    if window is None:
        return DEFAULT_TARGET_TOKENS
    return max(window - RESERVE_TOKENS, window // 2)


def budget_tokens(refused: Sequence[Message], refusal: str, window: int | None = None) -> int:
    """The estimated tokens that a smaller request may have.

    If the refusal names the window, this is the target for that window, scaled to our estimates.
    Otherwise it is the target for `window`, and at most half of the refused request.
    """
    had = max(estimate_tokens(refused), 1)
    for pattern in _COUNTED:
        if found := pattern.search(refusal):
            got, most = int(found["got"]), int(found["most"])
            return had * target_tokens(most) // max(got, most, 1)
    return min(had // 2, target_tokens(window))


def text_length(messages: Sequence[Message]) -> int:
    """The number of characters in all blocks. Some APIs join blocks, so only their sum counts."""
    return sum(len(_words(block)) for message in messages for block in message.blocks)


def _words(block: Block) -> str:
    match block:
        case Text(text):
            return text
        case ToolResult(content=str(content)):
            return content
        case ToolResult(content=parts) if all(isinstance(part, Text) for part in parts):
            return block.text
    return canonical(block)


def begins_turn(message: Message) -> bool:
    """Whether a message begins a turn: a user message without tool results."""
    return message.role == "user" and bool(message.blocks) and not message.tool_results


def fit(messages: Sequence[Message], budget: int) -> list[Message]:
    """The newest turns that fit into `budget` tokens, at least the current turn.

    Whole turns are left out, the oldest first; all of them if the budget is at most `BARE_TOKENS`.
    Only the texts of the last turn are shortened. The first message says that something is missing,
    so the list differs from every other request.
    """
    # What comes in mid-turn, such as the end of a sub-agent, stands behind a user's row.
    said = [i for i, message in enumerate(messages) if begins_turn(message)]
    starts = [i for i in said if i == 0 or messages[i - 1].role == "assistant"] or said[:1] or [0]
    kept = _shortened(messages[starts[-1] :], budget)
    start = starts[-1]
    for earlier in reversed(starts[:-1]) if budget > BARE_TOKENS else ():
        if estimate_tokens(messages[earlier:start]) + estimate_tokens(kept) > budget:
            break
        kept = [*messages[earlier:start], *kept]
        start = earlier
    mark = Text(f"[The conversation was too long. {start} earlier messages were left out.]")
    return [Message(m.role, (*m.blocks, mark)) for m in kept[:1]] + kept[1:]


def _shortened(messages: Sequence[Message], budget: int) -> list[Message]:
    if estimate_tokens(messages) <= budget:
        return list(messages)
    blocks = sum(len(message.blocks) for message in messages)
    most = max(SMALLEST_TEXT_BYTES, budget * BYTES_PER_TOKEN // max(blocks, 1))
    return [Message(m.role, tuple(_short(b, most) for b in m.blocks)) for m in messages]


def _short(block: Block, most_bytes: int) -> Block:
    if isinstance(block, Text):
        return msgspec.structs.replace(block, text=clip_bytes(block.text, most_bytes))
    if isinstance(block, ToolResult):
        return msgspec.structs.replace(block, content=clip_bytes(block.text, most_bytes))
    return block


def clip(text: str, most: int) -> str:
    """The text in at most `most` characters: its beginning and its end, with a note between them if
    it fits."""
    if len(text) <= most:
        return text
    note = f"\n[... {len(text) - most} characters and more left out ...]\n"
    if len(note) >= most:
        return text[: max(most, 0)]
    half = (most - len(note)) // 2
    return f"{text[: most - len(note) - half]}{note}{text[len(text) - half :]}"


def clip_bytes(text: str, most_bytes: int) -> str:
    """The text in at most `most_bytes` bytes of UTF-8, clipped as by `clip`; "" for none.

    A budget in tokens is one in bytes: a character of Chinese has three, and an emoji four.
    """
    cut = text
    while (size_bytes := _size_bytes(cut)) > most_bytes and cut:
        # The ends may have wider characters than the middle, so one step may not be enough. Each
        # step cuts the whole text, so that the note counts what is left out of it.
        fits = len(cut) * max(most_bytes, 0) // size_bytes
        cut = clip(text, min(fits, len(cut) - 1))
    return cut


def _size_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
