"""The second summary is written without the first."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.summary_requests import Lines, build_with

MUTANT = Mutant(
    breaks="compaction",
    statement="A second compaction sums up what came since the first one, and replaces both",
    scenario="what-a-summary-replaces",
    killed_by="summary_informed.summary",
)


def _fresh(told: Lines) -> Lines:
    first = next((n for n, line in enumerate(told) if "Summary of the conv" in line), None)
    return told if first is None else told[first + 2 :]


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build_with(_fresh, brief)
