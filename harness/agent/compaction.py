"""A shorter history: a summary of the past, and the end of the conversation word for word.

The request for the summary is one message of plain text, cut to fit; it offers no tools, and has a
minute. The last assistant turn and all that follows it are kept as they are (its thinking is
signed), and so is the last thing the user said. A former summary is summarised with the rest. A
summary that is empty, late, cut off, no summary, or saves too little is refused: then the history
stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from harness.agent.failures import ModelFailure
from harness.agent.model import Answer, Query
from harness.agent.projection import Projection, project
from harness.agent.window import BYTES_PER_TOKEN, clip, estimate_tokens, is_said
from harness.core.values.messages import Block, Message, Text, ToolResult, ToolUse, canonical, user

SAVING = 0.75
"""A compacted history has at most this share of the tokens, or it is not worth the loss: of the
request, which has rules and tools beside it, that is about 0.8."""

TIMEOUT_S = 60.0
"""How long a summary may take; what replaces it then, a rebuild, waits for nobody."""

_SYSTEM = "You summarise conversations between a user and an assistant."
_TASK = (
    "Summarise the conversation below so that the assistant can go on with it: what the user "
    "wants, what was done and found out, what failed, what is open. Answer with the summary only."
)
_LEAD = "Summary of the conversation so far:\n"
_BLOCK_CHARACTERS = 2_000


class Compacted(msgspec.Struct, frozen=True):
    """The summary, and how many of the last messages stay."""

    summary: Message
    keep: int


Ask: TypeAlias = Callable[[Query], Answer]
Compaction: TypeAlias = Callable[[Sequence[Message], int, Ask], Compacted | None]


def is_summary(answer: Answer, told: str) -> bool:
    """Whether an answer is a whole summary, and not what it was to summarise."""
    text = answer.message.text.strip()
    whole = answer.stop in ("end_turn", "stop_sequence") and not answer.message.tool_uses
    return bool(text) and whole and text != told.strip()


def saves_enough(
    compacted: Compacted, messages: Sequence[Message], project: Projection = project
) -> bool:
    """Whether what is sent of the history becomes enough smaller to be worth the loss."""
    after = project([compacted.summary, *messages[-compacted.keep :]])
    return estimate_tokens(after) <= SAVING * estimate_tokens(project(messages))


def compact(
    messages: Sequence[Message],
    budget_tokens: int,
    ask: Ask,
    *,
    is_summary: Callable[[Answer, str], bool] = is_summary,
    saves_enough: Callable[[Compacted, Sequence[Message]], bool] = saves_enough,
) -> Compacted | None:
    """A compacted history, or None when there is nothing to compact or the summary is refused."""
    cut = _last_turn(messages)
    said = max((i for i, m in enumerate(messages) if is_said(m)), default=0)
    kept_words, summaries = _words_of(messages[said]) if said < cut else ((), ())
    past = [m for i, m in enumerate(messages[:cut]) if i != said]
    past[:0] = [Message("user", summaries)] if summaries else []
    if not past:
        return None
    told = "\n".join(line for message in past for line in _lines(message))
    task = f"{_TASK}\n\n{clip(told, budget_tokens * BYTES_PER_TOKEN // 2)}"
    try:
        answer = ask(Query((user(task),), purpose="compact", system=_SYSTEM, timeout_s=TIMEOUT_S))
    except ModelFailure:
        return None
    summary = Message("user", (Text(_LEAD + answer.message.text.strip()), *kept_words))
    compacted = Compacted(summary, len(messages) - cut)
    return compacted if is_summary(answer, told) and saves_enough(compacted, messages) else None


def _words_of(said: Message) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """What the user said in a message, and the former summary that it opens with."""
    former = tuple(b for b in said.blocks if isinstance(b, Text) and b.text.startswith(_LEAD))
    return tuple(b for b in said.blocks if b not in former), former


def _last_turn(messages: Sequence[Message]) -> int:
    """Where the last assistant turn begins; 0 when there is none."""
    last = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=0)
    while last > 0 and messages[last - 1].role == "assistant":
        last -= 1
    return last


def _lines(message: Message) -> list[str]:
    return [
        f"{message.role}: {clip(text, _BLOCK_CHARACTERS)}" for text in map(_line, message.blocks)
    ]


def _line(block: Block) -> str:
    match block:
        case Text(text):
            return text
        case ToolUse(name=name, input=given):
            return f"called {name} with {canonical(given)}"
        case ToolResult(is_error=is_error):
            return f"{'error' if is_error else 'result'} of a tool: {block.text}"
    return "(something that is not text)"
