"""The limit of the model is not configured, so that each conversation is over it."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.context_overflow import compact
from harness.agent.models.model_call import ModelAnswer
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="overflow",
    statement='A conversation is compacted after "hi" (incident 44)',
    scenario="compaction-after-hi/far-below-the-window",
    killed_by="compaction_due.early",
)


class Anxious(Loop):
    """Makes the history shorter before it asks."""

    def query(self, tools_withdrawn: bool = False) -> ModelAnswer:
        """The answer to what a compaction leaves."""
        if len(self.transcript.messages) > 1 and not self.counts["model calls"]:
            self.overflow.shrink(self.transcript, "", self.model.query)
        return super().query(tools_withdrawn)


def agent(brief: Brief) -> None:
    """The reference agent with a limit of nothing."""
    small = partial(compact, saves_enough=lambda *_: True)
    build(brief, turn=Anxious, compaction=small).run()
