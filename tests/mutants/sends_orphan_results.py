"""A result whose call is not in the message before is sent all the same."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.sends_duplicate_results import joined

MUTANT = Mutant(
    breaks="projection",
    statement="An orphan or late result reaches the provider (seeds 135, 153)",
    scenario="damaged-history/result-behind-the-user",
    killed_by="valid_request",
)


def agent(brief: Brief) -> None:
    """The reference agent that sends orphans."""
    build(brief, projection=joined).run()
