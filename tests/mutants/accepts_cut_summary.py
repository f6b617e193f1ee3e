"""A summary that was cut off in the middle is used."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.context_overflow import compact
from harness.agent.models.model_call import ModelAnswer
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="A compacted history that is not valid is accepted (AutoGPT #12413)",
    scenario="overflow-summaries/cut-off",
    killed_by="compaction_progress.unusable",
)


def _any_text(answer: ModelAnswer, told: str) -> bool:
    return bool(answer.message.text.strip())


def agent(brief: Brief) -> None:
    """The reference agent that does not ask why a summary stopped."""
    build(brief, compaction=partial(compact, is_summary=_any_text)).run()
