"""The id that a clone made of the tool's name is sent back as it came, twice."""

from __future__ import annotations

from tests.mutants import Mutant
from tests.mutants.as_stored_open_call import agent

__all__ = ["MUTANT", "agent"]

MUTANT = Mutant(
    breaks="projection",
    statement="The model uses the tool's name as id, and the agent keeps it (incidents 23, 24)",
    scenario="forgiving-provider/one-id-for-two-calls",
    killed_by="unique_tool_ids.repeated",
)
