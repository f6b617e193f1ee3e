"""A refusal clears the counter: the same call goes on in rounds."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import EndTurn, Guard, Proceed, Refuse, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="The breaker resets when it fires: a loop in rounds of N (seed 99, hermes #12632)",
    scenario="circles/one-call",
    killed_by="no_progress_stop.same_call",
)


class StartsAnew(RepeatGuard):
    """Refuses once, and has forgotten why."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse, and begin again."""
        decision = super().before(call)
        if not isinstance(decision, Proceed):
            self.__init__()  # type: ignore[misc]
        return decision


def _rounds(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (StartsAnew(),)


def agent(brief: Brief) -> None:
    """The reference agent with a breaker that forgets."""
    build(brief, guards=_rounds).run()
