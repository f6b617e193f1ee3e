"""Equal calls are a loop with any results: polling a job is stopped."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.guards import Guard, Guide, Proceed, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Identical successful polls trip a call-only breaker (seed 101, hermes #14059)",
    scenario="identical-failures/polling",
    killed_by="no_false_stop",
)


class CallsOnly(RepeatGuard):
    """Does not look at results."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the call alone."""
        return super().after(call, msgspec.structs.replace(result, content="", is_error=False))


def _calls_only(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (CallsOnly(),)


def agent(brief: Brief) -> None:
    """The reference agent with a breaker that counts calls."""
    build(brief, guards=_calls_only).run()
