"""The guard against the same calls with the same results: A A A, or A B A B A B.

Call and raw result count together, because polling changes its result, and eight written files all
return "ok". Results that differ only in ids, times or a count of the calls are alike, with a limit
twice as high. Sequences of single calls show a loop inside one batch. Batches, compared without
order, show repeated parallel reads, whose cycle of single calls would be too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from harness.agent.guards.guard_protocol import EndTurn, Guide, Ladder, Proceed, Refuse, signature
from harness.core.history.repetition import without_marks
from harness.core.values.messages import Text, ToolResult, ToolUse

PERIOD_MAX = 5

Seen: TypeAlias = tuple[str, str]
"""A call and its raw result, each as its signature."""


def _is_text(result: ToolResult) -> bool:
    blocks = result.content if isinstance(result.content, tuple) else (result.content,)
    return isinstance(result.content, str) or all(isinstance(block, Text) for block in blocks)


class RepeatGuard:
    """After `repeats` rounds of one to `period_max` equal calls, or equal batches, further calls
    of the round are refused, and then the turn ends."""

    def __init__(self, repeats: int = 3, period_max: int = PERIOD_MAX) -> None:
        self._repeats, self._period_max = repeats, period_max
        self._calls: list[Seen] = []
        self._likes: list[Seen] = []
        self._batches: list[tuple[Seen, ...]] = []
        self._batch: list[Seen] = []
        self._ladder = Ladder(refusals=1)

    def begin_step(self) -> None:
        """Start a new batch."""
        if self._batch:
            self._batches.append(tuple(sorted(self._batch)))
            self._batch = []
        self._ladder.begin_step()

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse a call of the cycle that just repeated."""
        period = self._period(self._calls, self._repeats)
        cycle = set(self._calls[-period:]) if period else self._round_of_batches(self._repeats)
        cycle = cycle or self._like_calls(2 * self._repeats)
        if signature(call.name, call.input) not in {made for made, _ in cycle}:
            return Proceed()
        size = len(cycle)
        return self._ladder.refuse(
            "cycle",
            f"{call.name} was not run: the last {size * self._repeats} calls repeated "
            "themselves and nothing changed. Do something else, or answer with what you have.",
            f"the same {'call' if size == 1 else f'{size} calls'} went on without any change.",
        )

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the call and its result; guide one round before refusal."""
        # Some tools give one text now as a string and now as a block; the model reads the same.
        content = result.text if _is_text(result) else result.content
        said = signature(str(result.is_error), content)
        self._calls.append((signature(call.name, call.input), said))
        self._batch.append(self._calls[-1])
        like = without_marks(content) if isinstance(content, str) else content
        self._likes.append((self._calls[-1][0], signature(str(result.is_error), like)))
        again = self._period(self._calls, self._repeats - 1) > 0
        if not again and self._calls[-1] not in self._round_of_batches(self._repeats - 1):
            return Proceed()
        return Guide("[Nothing has changed since the same call before. Do not repeat it as it is.]")

    def _like_calls(self, repeats: int) -> set[Seen]:
        """The call whose last results differ only in ids, times or counts, `repeats` times in a
        row."""
        tail = self._likes[-repeats:]
        return set(tail[:1]) if len(tail) == repeats and len(set(tail)) == 1 else set()

    def _round_of_batches(self, repeats: int) -> set[Seen]:
        """The content of one round of batches, if `repeats` rounds have passed."""
        period = self._period(self._batches, repeats)
        return {seen for batch in self._batches[-period:] for seen in batch} if period else set()

    def _period(self, seen: Sequence[object], repeats: int) -> int:
        """The length of the cycle that ends `seen`; 0 if there is none."""
        for period in range(1, self._period_max + 1):
            tail = list(seen[-period * repeats :])
            if len(tail) == period * repeats and tail == tail[:period] * repeats:
                return period
        return 0
