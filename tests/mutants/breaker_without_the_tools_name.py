"""A breaker knows a call by its input and its result alone: three tools count as one."""

from __future__ import annotations

from collections.abc import Hashable

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse, canonical
from tests.mutants import Mutant
from tests.mutants.halt import Halt, instead

MUTANT = Mutant(
    breaks="guards",
    statement="The key of a breaker lacks the tool's name (seed 8)",
    scenario="three-tools-one-answer",
    killed_by="no_false_stop.withdrawn",
)


class Nameless(Halt):
    """Counts equal results of equal inputs."""

    def failed(self, result: ToolResult) -> bool:
        """A repetition counts, failed or not."""
        return True

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """Input and result."""
        return canonical(call.input), result.text


def agent(brief: Brief) -> None:
    """The reference agent with that breaker."""
    build(brief, guards=instead(Nameless)).run()
