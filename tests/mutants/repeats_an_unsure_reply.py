"""After a kill, a reply that may have arrived is sent again as if it were new."""

from __future__ import annotations

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.stores import wrong_parts

MUTANT = Mutant(
    breaks="gateway",
    statement="A reply that may have arrived is sent again without a note (decision 0008)",
    scenario="restart-storm/between-reply-and-note",
    killed_by="outbound_once.unmarked",
)


def agent(brief: Brief) -> None:
    """The reference agent with a table of what is to be sent, and no note."""
    wrong_parts.says_it_again(brief)
