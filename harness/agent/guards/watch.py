"""All guards of one turn as one: the heaviest decision counts."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent.guards.decisions import Decision, Guard, Guide, heaviest
from harness.agent.guards.empty_input import EmptyInputGuard, needed_by
from harness.agent.guards.identical_failure import IdenticalFailureGuard
from harness.agent.guards.repeat import RepeatGuard
from harness.core.messages import ToolResult, ToolSpec, ToolUse


def standard_guards(tools: Sequence[ToolSpec]) -> tuple[Guard, ...]:
    """The guards of the reference agent for one turn with these tools."""
    return (EmptyInputGuard(needed_by(tools)), IdenticalFailureGuard(), RepeatGuard())


class Watch:
    """Asks every guard, so that each can count, and passes the heaviest decision on."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._guards = tuple(guards)

    def begin_step(self) -> None:
        """A new assistant message is about to be carried out."""
        for guard in self._guards:
            guard.begin_step()

    def before(self, call: ToolUse) -> Decision:
        """Whether the call may run."""
        return heaviest(*[guard.before(call) for guard in self._guards])

    def after(self, call: ToolUse, result: ToolResult) -> Decision:
        """What follows from a result; all guidance is one text."""
        decisions: list[Decision] = [guard.after(call, result) for guard in self._guards]
        worst = heaviest(*decisions)
        if isinstance(worst, Guide):
            return Guide("\n".join(d.text for d in decisions if isinstance(d, Guide)))
        return worst
