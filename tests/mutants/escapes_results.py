"""A result is escaped for a page, and the model reads it so."""

from __future__ import annotations

import html

from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="A result is kept as a page shows it, and the model reads it so (open-webui#20600)",
    scenario="what-the-tools-said/markup-and-quotes",
    killed_by="result_carried.escaped",
)


def agent(brief: Brief) -> None:
    """The reference agent that writes each text for a page."""
    play_with(brief, successes(html.escape))
