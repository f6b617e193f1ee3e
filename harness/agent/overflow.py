"""When the prompt is too long: as it is, compacted once, rebuilt from the store, given up.

Each stage is taken at most once in a turn, so a model that always says "too long" is asked three
times and no more. Only the request is made again: tools that ran in the turn do not run again,
for their results are in the history that is made shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from harness.agent.compaction import Ask, Compaction
from harness.agent.transcript import Transcript
from harness.agent.window import budget_tokens


class Overflow(Protocol):
    """Makes the history of one turn shorter, as often as it can."""

    def shrink(self, transcript: Transcript, refusal: str, ask: Ask) -> bool:
        """Make the history shorter; False when nothing is left to try.

        `refusal` is the provider's text, `ask` makes further requests.
        """
        ...


class Escalation:
    """The stages in their order; a stage that cannot help is passed over."""

    def __init__(
        self, compaction: Compaction, stages: Sequence[str] = ("compact", "rebuild")
    ) -> None:
        self._compaction = compaction
        self._left = list(stages)

    def shrink(self, transcript: Transcript, refusal: str, ask: Ask) -> bool:
        """Take the next stage that helps."""
        budget = budget_tokens(transcript.wire(), refusal)
        while self._left:
            if _STAGES[self._left.pop(0)](transcript, budget, self._compaction, ask):
                return True
        return False


def _compact(transcript: Transcript, budget: int, compaction: Compaction, ask: Ask) -> bool:
    compacted = compaction(transcript.messages, budget, ask)
    if compacted is not None:
        transcript.compact(compacted.summary, compacted.keep)
    return compacted is not None


def _rebuild(transcript: Transcript, budget: int, compaction: Compaction, ask: Ask) -> bool:
    transcript.rebuild(budget)
    return True


_Stage: TypeAlias = Callable[[Transcript, int, Compaction, Ask], bool]
_STAGES: dict[str, _Stage] = {"compact": _compact, "rebuild": _rebuild}
