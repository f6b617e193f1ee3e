"""One place for all sessions keeps the text that is summed up."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.summary_requests import Lines, build_with

MUTANT = Mutant(
    breaks="compaction",
    statement="The summary of one session is written from the conversation of another",
    scenario="summary-of-another-session",
    killed_by="summary_informed.other",
)


def agent(brief: Brief) -> None:
    """The reference agent that prepares the text once."""
    kept: Lines = []

    def prepared(told: Lines) -> Lines:
        kept[:] = kept or told
        return kept

    build_with(prepared, brief)
