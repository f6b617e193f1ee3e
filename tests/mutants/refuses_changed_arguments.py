"""A tool that failed three times is refused with any arguments, also with changed ones."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, IdenticalFailureGuard, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Keyed by tool and error alone, a corrected call is refused (seeds 3, 120)",
    scenario="identical-failures/corrected-at-the-fourth",
    killed_by="expect.calls",
)


def _name_of(name: str, input: object) -> str:
    return name


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (IdenticalFailureGuard(identify=_name_of), RepeatGuard())


def agent(brief: Brief) -> None:
    """The reference agent that does not look at arguments."""
    build(brief, guards=_guards).run()
