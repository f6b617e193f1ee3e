"""A result whose call was pruned is sent, and the provider does not mind."""

from __future__ import annotations

from tests.mutants import Mutant
from tests.mutants.as_stored_open_call import agent

__all__ = ["MUTANT", "agent"]

MUTANT = Mutant(
    breaks="projection",
    statement="History is cut in pieces without a look at pairs (incidents 4; openclaw #9868)",
    scenario="forgiving-provider/result-without-a-call",
    killed_by="tool_pairing.orphan",
)
