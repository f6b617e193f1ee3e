"""Only `{}` is an empty input; null is run."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import (
    EmptyInputGuard,
    EndTurn,
    Guard,
    IdenticalFailureGuard,
    Proceed,
    Refuse,
    RepeatGuard,
)
from harness.agent.guards.guard_protocol import needed_by
from harness.core.values.brief import Brief
from harness.core.values.messages import Json, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="A null input is not counted as empty (seeds 19)",
    scenario="empty-inputs/null-input",
    killed_by="args_complete.empty_input",
)


class MissesSome(EmptyInputGuard):
    """Lets some empty inputs pass."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Look at the others."""
        return Proceed() if self.misses(call.input) else super().before(call)

    def misses(self, input: Json) -> bool:
        """Whether this one passes: null."""
        return input is None


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (MissesSome(needed_by(tools)), IdenticalFailureGuard(), RepeatGuard())


def agent(brief: Brief) -> None:
    """The reference agent that runs a call with null."""
    build(brief, guards=_guards).run()
