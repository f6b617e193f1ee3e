"""Recovery from a prompt that is too long: compact once, rebuild from the store, give up.

A request goes out at most three times in a row; tools do not run again. Compaction asks for a
plain-text summary without tools, within a minute. The last assistant turn, the messages after it
(thinking is signed) and the user's last words stay. A summary that is empty, late, cut off or too
long is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import msgspec

from harness.agent.conversation.history_size import (
    BYTES_PER_TOKEN,
    REBUILD_TOKENS,
    begins_turn,
    budget_tokens,
    clip,
    clip_bytes,
    estimate_tokens,
    text_length,
)
from harness.agent.conversation.projection import NO_OUTCOME, Projection, project
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.messages import Block, Message, Text, ToolResult, ToolUse, canonical, user

SAVING = 0.75
"""The largest share of the tokens that a compacted history may have. With rules and tools, this is
about 0.8 of the request."""

SUMMARY_TIMEOUT_S = 60.0
"""The longest time for a summary. The rebuild that replaces it needs no request."""

_SYSTEM = "You summarise conversations between a user and an assistant."
_TASK = (
    "Summarise the conversation below so that the assistant can go on with it: what the user "
    "wants, what was done and found out, what failed, what is open. Answer with the summary only."
)
_LEAD = "Summary of the conversation so far:\n"

# A user says a wish once, and the agent cannot find it out again. So the other texts are cut first.
_BLOCK_CHARACTERS = (2_000, 500, 120)

SMALLEST_CUT_BYTES = 80
"""The room for a text that is cut: up to 50 bytes say how much is left out, between its ends."""

MAX_SHRINKS = 2
"""The number of times a request is made smaller before the agent gives up."""

SMALLER = 0.97
"""The largest share of the tokens that a rebuilt history may have. The tokens are estimated, so a
smaller difference may not exist on the wire."""

ANSWERS_APART = 3
"""The number of answers between two rounds; before that, the history has hardly grown."""


class Compacted(msgspec.Struct, frozen=True):
    """The summary, and the number of last messages that stay."""

    summary: Message
    keep: int


Ask: TypeAlias = Callable[[Query], ModelAnswer]
Compaction: TypeAlias = Callable[[Sequence[Message], int, Ask], Compacted | None]


def is_summary(answer: ModelAnswer, told: str) -> bool:
    """Whether an answer is a complete summary, and not a copy of its input."""
    text = answer.message.text.strip()
    whole = answer.stop in ("end_turn", "stop_sequence") and not answer.message.tool_uses
    return bool(text) and whole and text != told.strip()


def saves_enough(
    compacted: Compacted, messages: Sequence[Message], project: Projection = project
) -> bool:
    """Whether the sent history becomes so much smaller that the loss of details is worth it."""
    after = project([compacted.summary, *messages[-compacted.keep :]])
    return estimate_tokens(after) <= SAVING * estimate_tokens(project(messages))


def compact(
    messages: Sequence[Message],
    budget_tokens: int,
    ask: Ask,
    *,
    is_summary: Callable[[ModelAnswer, str], bool] = is_summary,
    saves_enough: Callable[[Compacted, Sequence[Message]], bool] = saves_enough,
) -> Compacted | None:
    """Return a compacted history; None if there is nothing to compact or the summary is refused."""
    cut = _last_turn(messages)
    said = [place for place in _said_in_turn(messages) if place < cut]
    words = [_words_of(messages[i]) for i in said]
    kept_words = tuple(block for own, _ in words for block in own)
    summaries = tuple(block for _, former in words for block in former)
    past = [m for i, m in enumerate(messages[:cut]) if i not in said]
    past[:0] = [Message("user", summaries)] if summaries else []
    if not past:
        return None
    room_bytes = budget_tokens * BYTES_PER_TOKEN
    told = _told(past, max(room_bytes - len(_TASK) - len(_SYSTEM), room_bytes // 2))
    if told is None:
        return None
    task = f"{_TASK}\n\n{told}"
    try:
        answer = ask(
            Query((user(task),), purpose="compact", system=_SYSTEM, timeout_s=SUMMARY_TIMEOUT_S)
        )
    except ModelFailure:
        return None
    summary = Message("user", (Text(_LEAD + answer.message.text.strip()), *kept_words))
    compacted = Compacted(summary, len(messages) - cut)
    return compacted if is_summary(answer, told) and saves_enough(compacted, messages) else None


def _said_in_turn(messages: Sequence[Message]) -> list[int]:
    """The places of what was said to the model in the open turn. A message that comes in mid-turn,
    or the end of a sub-agent, does not replace the one that began the turn. A call without its
    result was cut off: the message behind it begins another turn."""
    said = [i for i, m in enumerate(messages) if begins_turn(m)]
    before = messages[: said[-1]] if said else ()
    answered = {result.id for m in messages for result in m.tool_results}
    asked = [(i, {use.id for use in m.tool_uses}) for i, m in enumerate(before)
             if m.role == "assistant"]  # fmt: skip
    first = max((i for i, ids in asked if not ids or ids - answered), default=-1)
    return [place for place in said if place > first]


def _words_of(said: Message) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """The user's own blocks of a message, and the earlier summaries at its beginning."""
    former = tuple(b for b in said.blocks if isinstance(b, Text) and b.text.startswith(_LEAD))
    return tuple(b for b in said.blocks if b not in former), former


def _last_turn(messages: Sequence[Message]) -> int:
    last = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=0)
    while last > 0 and messages[last - 1].role == "assistant":
        last -= 1
    return last


def _told(past: Sequence[Message], most_bytes: int) -> str | None:
    """The conversation as one text of a bounded size, in which each cut says so; None without the
    room to say it.

    Without it words are lost unseen. A gateway that counts in other units names such a
    window.
    """
    told, answered = "", {result.id for message in past for result in message.tool_results}
    for most in _BLOCK_CHARACTERS:
        told = "\n".join(line for message in past for line in _lines(message, most, answered))
        if len(told.encode("utf-8", "surrogatepass")) <= most_bytes:
            return told
    return clip_bytes(told, most_bytes) if most_bytes >= SMALLEST_CUT_BYTES else None


def _lines(message: Message, most: int, answered: Collection[str]) -> list[str]:
    is_user = begins_turn(message)
    texts = (_line(block, answered) for block in message.blocks)
    return [f"{message.role}: {text if is_user else clip(text, most)}" for text in texts]


def _line(block: Block, answered: Collection[str]) -> str:
    match block:
        case Text(text):
            return text
        case ToolUse(id=id, name=name, input=given):
            # No row says what became of a call that was cut off; each request says it.
            outcome = "" if id in answered else f". {NO_OUTCOME}"
            return f"called {name} with {canonical(given)}{outcome}"
        case ToolResult(is_error=is_error):
            return f"{'error' if is_error else 'result'} of a tool: {block.text}"
    return "(something that is not text)"


class Escalation:
    """Shortens the history of one turn in stages, without the stages that do not help.
    `rebuild_tokens` bounds the first and the second rebuilt history."""

    def __init__(
        self,
        compaction: Compaction,
        stages: Sequence[str] = ("compact", "rebuild", "rebuild"),
        window_tokens: int | None = None,
        rebuild_tokens: Sequence[int] = REBUILD_TOKENS,
    ) -> None:
        self._compaction, self._window_tokens = compaction, window_tokens
        self._rebuild_tokens = tuple(rebuild_tokens)
        self._stages, self._left = tuple(stages), list(stages)
        self._taken: list[str] = []
        self._answers = 0

    def answered(self) -> None:
        """Record that the model accepted a request."""
        self._answers += 1

    def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
        """Run the next stage that helps; False if no stage is left.

        `refusal` is the provider's text, `ask` makes further requests.
        """
        # After some answers the history has grown, so all stages may help again. A summary after
        # which the very next request was refused has not helped: it is not tried again.
        if self._answers >= ANSWERS_APART:
            self._left, self._taken = list(self._stages), []
        elif self._answers == 0 and self._taken[-1:] == ["compact"]:
            self._forget("compact")
        self._answers = 0
        budget = budget_tokens(transcript.wire(), refusal, self._window_tokens)
        while self._left and len(self._taken) < MAX_SHRINKS:
            stage = self._left.pop(0)
            if self._take(stage, transcript, budget, ask):
                self._taken.append(stage)
                return True
            if stage == "compact":
                self._forget(stage)
        return False

    def _forget(self, stage: str) -> None:
        self._stages = tuple(other for other in self._stages if other != stage)

    def _take(self, stage: str, transcript: SessionTranscript, budget: int, ask: Ask) -> bool:
        if stage == "compact":
            return _compact(transcript, budget, self._compaction, ask)
        most = self._rebuild_tokens[len(self._taken)]
        return _rebuild(transcript, min(budget, most))


def _compact(transcript: SessionTranscript, budget: int, compaction: Compaction, ask: Ask) -> bool:
    """Make a summary and store it for the next turn; return whether that worked."""
    compacted = compaction(transcript.messages, budget, ask)
    if compacted is None:
        return False
    try:
        # A store may raise anything; without a stored summary nothing became smaller.
        transcript.compact(compacted.summary, compacted.keep)
    except Exception:
        return False
    return True


def _rebuild(transcript: SessionTranscript, budget: int) -> bool:
    """Rebuild the history; return whether it is smaller than the refused request."""
    before = transcript.wire()
    transcript.rebuild(budget)
    after = transcript.wire()
    return all(size(after) <= SMALLER * size(before) for size in (estimate_tokens, text_length))
