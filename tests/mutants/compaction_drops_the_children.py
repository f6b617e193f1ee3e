"""A compaction drops the state of a session, with the results that waited for a turn."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.background_tasks import BackgroundTasks
from harness.agent.composition import standard_compaction, standard_store
from harness.agent.context_overflow import Ask, Compacted
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="background",
    statement="A child ends, the parent is compacted, and no later request holds the result",
    scenario="child-that-ends-twice/compacted-meanwhile",
    killed_by="child_result.lost",
)


class _Tasks(BackgroundTasks):
    def drop(self) -> None:
        """Drop what waits."""
        self._ended.clear()


def agent(brief: Brief) -> None:
    """The reference agent that forgets after a compaction what has ended."""
    store, standard = standard_store(brief), standard_compaction(brief)
    tasks = _Tasks("queue", store)

    def compaction(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
        compacted = standard(messages, budget_tokens, ask)
        tasks.drop()
        return compacted

    build(brief, store=store, background=tasks, compaction=compaction).run()
