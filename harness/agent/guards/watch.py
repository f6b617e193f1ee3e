"""All guards of one turn as one: the heaviest decision counts.

A refused call was not run, so no guard hears of a result, and nothing would count it: a model that
insists on what a policy forbids would go on until the budget is gone. So the refusals themselves
are counted here, whoever refused and why.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent.guards.decisions import (
    Decision,
    Guard,
    Guide,
    Ladder,
    Proceed,
    Refuse,
    heaviest,
    signature,
)
from harness.agent.guards.empty_input import EmptyInputGuard, is_empty, needed_by
from harness.agent.guards.identical_failure import IdenticalFailureGuard
from harness.agent.guards.repeat import RepeatGuard
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse


def standard_guards(tools: Sequence[ToolSpec]) -> tuple[Guard, ...]:
    """The guards of the reference agent for one turn with these tools."""
    return (EmptyInputGuard(needed_by(tools)), IdenticalFailureGuard(), RepeatGuard())


class Watch:
    """Asks every guard, so that each can count, and passes the heaviest decision on.

    `refusals` is how many steps may be refused of one tool in a row, and of one call without its
    having run since; the next such call ends the turn.
    """

    def __init__(self, guards: Sequence[Guard], refusals: int = 4) -> None:
        self._guards = tuple(guards)
        self._ladder = Ladder(refusals)

    def begin_step(self) -> None:
        """A new assistant message is about to be carried out."""
        self._ladder.begin_step()
        for guard in self._guards:
            guard.begin_step()

    def before(self, call: ToolUse) -> Decision:
        """Whether the call may run."""
        decision = heaviest(*[guard.before(call) for guard in self._guards])
        keys = (call.name, *_identity(call))
        if isinstance(decision, Refuse):
            end = f"{call.name} was refused again and again: {decision.text}"
            return heaviest(*[self._ladder.refuse(key, decision.text, end) for key in keys])
        if isinstance(decision, Proceed):
            for key in keys:
                self._ladder.reset(key)
        return decision

    def after(self, call: ToolUse, result: ToolResult) -> Decision:
        """What follows from a result; all guidance is one text."""
        decisions: list[Decision] = [guard.after(call, result) for guard in self._guards]
        worst = heaviest(*decisions)
        if isinstance(worst, Guide):
            return Guide("\n".join(d.text for d in decisions if isinstance(d, Guide)))
        return worst


def _identity(call: ToolUse) -> tuple[str, ...]:
    """What a call is known by beside its tool: nothing if it is empty, for then a whole call of
    the tool is what it should have been."""
    return () if is_empty(call.input) else (signature(call.name, call.input),)
