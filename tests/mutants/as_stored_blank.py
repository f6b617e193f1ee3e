"""A reply of white space is stored and sent back."""

from __future__ import annotations

from tests.mutants import Mutant
from tests.mutants.as_stored_open_call import agent

__all__ = ["MUTANT", "agent"]

MUTANT = Mutant(
    breaks="projection",
    statement="A blank row older than the repair is sent each time (incidents 14; hermes #70475)",
    scenario="forgiving-provider/blank-text",
    killed_by="nonblank_content.blank",
)
