"""Tools that need nothing are known by their bare names; the stream shows them with a prefix."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import EmptyInputGuard, Guard
from harness.agent.guards.guard_protocol import bare_name
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="A tool without parameters is exempt by its bare name alone (seeds 23)",
    scenario="empty-inputs/no-arguments-needed-prefixed",
    killed_by="no_false_stop",
)


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    exempt = {bare_name(tool.name) for tool in tools if not tool.required}
    return (EmptyInputGuard(lambda name: () if name in exempt else ("arguments",)),)


def agent(brief: Brief) -> None:
    """The reference agent that does not know a tool by its prefixed name."""
    build(brief, guards=_guards).run()
