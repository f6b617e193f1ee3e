"""A compaction that gives back what it was given counts as one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.agent import build
from harness.agent.context_overflow import Compacted, compact
from harness.agent.models.model_call import ModelAnswer
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="A compaction equal to its input is accepted, and costs an attempt (AutoGPT #12413)",
    scenario="prompt-too-long/compaction-changes-nothing",
    killed_by="compaction_progress.larger",
)


def _any_text(answer: ModelAnswer, told: str) -> bool:
    return bool(answer.message.text.strip())


def _any_size(compacted: Compacted, messages: Sequence[Message]) -> bool:
    return True


def agent(brief: Brief) -> None:
    """The reference agent that does not compare."""
    build(brief, compaction=partial(compact, is_summary=_any_text, saves_enough=_any_size)).run()
