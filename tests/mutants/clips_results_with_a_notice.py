"""Each result is cut at a small bound, and the model is told so, and no way to the rest."""

from __future__ import annotations

from harness.agent.conversation.history_size import clip
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with, successes

MUTANT = Mutant(
    breaks="tools",
    statement="A short result is cut with a notice, so the model can never read the rest",
    scenario="what-the-tools-said/a-whole-page",
    killed_by="result_carried.clipped",
)


def agent(brief: Brief) -> None:
    """The reference agent that clips each result to 300 characters."""
    play_with(brief, successes(lambda text: clip(text, 300)))
