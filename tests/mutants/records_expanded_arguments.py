"""The check looks for the arguments as the model wrote them, the record holds them expanded."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.guards import EmptyInputGuard, Guard, Guide, IdenticalFailureGuard, Proceed
from harness.agent.guards.guard_protocol import needed_by
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Checked on raw and recorded on expanded arguments, it never trips (seeds 11)",
    scenario="identical-failures",
    killed_by="no_progress_stop.same_failure",
)


class RecordsExpanded(IdenticalFailureGuard):
    """Is asked about one call and given another."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Record the call with a reference in its arguments replaced."""
        expanded = {**(call.input or {}), "expanded": True}
        return super().after(msgspec.structs.replace(call, input=expanded), result)


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (EmptyInputGuard(needed_by(tools)), RecordsExpanded())


def agent(brief: Brief) -> None:
    """The reference agent whose breaker compares what is never equal."""
    build(brief, guards=_guards).run()
