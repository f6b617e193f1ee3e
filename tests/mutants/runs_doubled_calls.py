"""A call that stands twice in an answer, under one id, is run twice."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="A proxy made two of one call, and both ran (catalogue, incident 22)",
    scenario="same-call-twice",
    killed_by="effect_once.again",
)


class RunsEach(Loop):
    """Runs what stands in an answer, as often as it stands there."""

    def refusal_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult | None:
        """The result of a call that may not run; the calls before it are not looked at."""
        return super().refusal_of(call, ())


def agent(brief: Brief) -> None:
    """The reference agent that takes each block for a call."""
    build(brief, turn=RunsEach).run()
