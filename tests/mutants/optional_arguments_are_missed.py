"""A tool that has parameters is taken to need them: an ordinary `{}` is guided and refused."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import EmptyInputGuard, Guard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Tools with optional parameters alone get guidance on truncation (seeds 24)",
    scenario="empty-inputs/optional-arguments-only",
    killed_by="no_false_stop",
)


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    named = {tool.name: tuple(tool.input_schema.get("properties") or ()) for tool in tools}
    return (EmptyInputGuard(lambda name: named.get(name, ())),)


def agent(brief: Brief) -> None:
    """The reference agent that exempts only tools without any parameter."""
    build(brief, guards=_guards).run()
