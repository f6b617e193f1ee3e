"""The same calls with the same results, over and over: A A A, or A B A B A B.

Results are compared, not only calls: polling a job until it is done repeats the call with a result
that changes, and is right. The raw result counts, without any guidance that was added to it.
"""

from __future__ import annotations

from harness.agent.guards.decisions import EndTurn, Guide, Ladder, Proceed, Refuse, signature
from harness.core.messages import ToolResult, ToolUse

PERIOD_MAX = 4


class RepeatGuard:
    """After `repeats` rounds of one to four equal calls, further calls of the round are refused."""

    def __init__(self, repeats: int = 3) -> None:
        self._repeats = repeats
        self._seen: list[tuple[str, str]] = []
        self._ladder = Ladder(refusals=1)

    def begin_step(self) -> None:
        """A new batch."""
        self._ladder.begin_step()

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse a call of the cycle that was just gone round."""
        period = self._period(self._repeats)
        cycle = [made for made, _ in self._seen[-period:]] if period else []
        if signature(call.name, call.input) not in cycle:
            return Proceed()
        return self._ladder.refuse(
            "cycle",
            f"{call.name} was not run: the last {period * self._repeats} calls repeated "
            "themselves and nothing changed. Do something else, or answer with what you have.",
            f"the same {'call' if period == 1 else f'{period} calls'} went on without any change.",
        )

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the call and its result; guide one round before refusal."""
        said = signature(str(result.is_error), result.content)
        self._seen.append((signature(call.name, call.input), said))
        if not self._period(self._repeats - 1):
            return Proceed()
        return Guide("[Nothing has changed since the same call before. Do not repeat it as it is.]")

    def _period(self, repeats: int) -> int:
        """The length of the cycle that the last calls have repeated, 0 if there is none."""
        for period in range(1, PERIOD_MAX + 1):
            tail = self._seen[-period * repeats :]
            if len(tail) == period * repeats and tail == tail[:period] * repeats:
                return period
        return 0
