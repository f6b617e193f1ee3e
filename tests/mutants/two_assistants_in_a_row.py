"""Adjacent answers are sent as they are stored."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.merges_text_only import merge_texts

MUTANT = Mutant(
    breaks="projection",
    statement="Early versions send adjacent assistant rows (seed 155)",
    scenario="damaged-history/two-answers",
    killed_by="role_alternation.wire",
)


def agent(brief: Brief) -> None:
    """The reference agent that merges no answers."""
    build(brief, projection=merge_texts).run()
