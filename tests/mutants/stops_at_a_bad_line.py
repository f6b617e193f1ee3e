"""A reader of the agent's own file that stops at a line it cannot read, and appends behind it."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.runner import line_store

MUTANT = Mutant(
    breaks="store",
    statement="What follows a bad line is never read again (incident 164, claude-code#53821)",
    scenario="own-file-left-half-written",
    killed_by="inbound_exactly_once.twice",
)


def agent(brief: Brief) -> None:
    """The agent with lines of a file, which stops at a bad one."""
    line_store.stops(brief)
