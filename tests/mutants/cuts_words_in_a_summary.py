"""What the user said is cut for the summary, and nothing says so."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.summary_requests import Lines, build_with

MUTANT = Mutant(
    breaks="compaction",
    statement="A message of the user is cut at a number of characters before it is summed up",
    scenario="what-a-summary-replaces",
    killed_by="summary_informed.words",
)


LETTERS = 48


def _cut(told: Lines) -> Lines:
    return [line[:LETTERS] if line.startswith("user: ") else line for line in told]


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build_with(_cut, brief)
