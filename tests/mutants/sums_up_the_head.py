"""The model that sums up is shown the first half of what its summary replaces."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.summary_requests import Lines, build_with

MUTANT = Mutant(
    breaks="compaction",
    statement="A summary is written from the first messages and replaces all of them",
    scenario="what-a-summary-replaces",
    killed_by="summary_informed.words",
)


def _head(told: Lines) -> Lines:
    return told[: len(told) // 2]


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build_with(_head, brief)
