"""When the prompt is too long: as it is, compacted once, rebuilt from the store, given up.

A request is made at most three times in a row, so a model that always says "too long" is not asked
for ever. Only the request is made again: tools that ran in the turn do not run again, for their
results are in the history that is made shorter. A turn that goes on for long may fill the window
again; then the stages begin anew, but not at once, and not with a compaction that failed before, or
after which the prompt was still too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.agent.compaction import Ask, Compaction
from harness.agent.transcript import Transcript
from harness.agent.window import REBUILD_TOKENS, budget_tokens, estimate_tokens, length

MAX_SHRINKS = 2
"""How often a request is made smaller before it is given up."""

SMALLER = 0.97
"""What is rebuilt has at most this share of the tokens: they are estimated, and a request that is
smaller by an estimate alone may be none on the wire."""

ANSWERS_APART = 3
"""So many answers must lie between two rounds: before that the history has hardly grown."""


class Overflow(Protocol):
    """Makes the history of one turn shorter, as often as it can."""

    def shrink(self, transcript: Transcript, refusal: str, ask: Ask) -> bool:
        """Make the history shorter; False when nothing is left to try.

        `refusal` is the provider's text, `ask` makes further requests.
        """
        ...

    def answered(self) -> None:
        """Take note that the model took a request."""
        ...


class Escalation:
    """The stages in their order; a stage that cannot help is passed over."""

    def __init__(
        self,
        compaction: Compaction,
        stages: Sequence[str] = ("compact", "rebuild", "rebuild"),
        window_tokens: int | None = None,
    ) -> None:
        self._compaction, self._window_tokens = compaction, window_tokens
        self._stages, self._left = tuple(stages), list(stages)
        self._taken: list[str] = []
        self._answers = 0

    def answered(self) -> None:
        """Take note that the model took a request."""
        self._answers += 1

    def shrink(self, transcript: Transcript, refusal: str, ask: Ask) -> bool:
        """Take the next stage that helps."""
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
        """A stage that did not help is not taken again."""
        self._stages = tuple(other for other in self._stages if other != stage)

    def _take(self, stage: str, transcript: Transcript, budget: int, ask: Ask) -> bool:
        if stage == "compact":
            return _compact(transcript, budget, self._compaction, ask)
        most = REBUILD_TOKENS[len(self._taken)]
        return _rebuild(transcript, min(budget, most))


def _compact(transcript: Transcript, budget: int, compaction: Compaction, ask: Ask) -> bool:
    """Whether a summary was made, and stored: one that the next turn would not have is not used."""
    compacted = compaction(transcript.messages, budget, ask)
    if compacted is None:
        return False
    try:
        transcript.compact(compacted.summary, compacted.keep)
    except Exception:
        return False
    return True


def _rebuild(transcript: Transcript, budget: int) -> bool:
    """Whether what is left is smaller than what was refused, and so worth another request."""
    before = transcript.wire()
    transcript.rebuild(budget)
    after = transcript.wire()
    return all(size(after) <= SMALLER * size(before) for size in (estimate_tokens, length))
