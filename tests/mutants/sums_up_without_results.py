"""The model that sums up is shown what was said, and no result of a tool."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.summary_requests import Lines, build_with

MUTANT = Mutant(
    breaks="compaction",
    statement="The results of tools are left out of what is summed up",
    scenario="what-a-summary-replaces",
    killed_by="summary_informed.rest",
)


def _spoken(told: Lines) -> Lines:
    return [line for line in told if "result of a tool" not in line]


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build_with(_spoken, brief)
