"""The agent's author says that a turn asks the model once, which a cut call makes wrong."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.targets.marks import always, unreachable
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="What always holds, as its author says, does not hold after a cut call (issue 38)",
    scenario="bad-endings/truncated-call",
    killed_by="own_marks.broken",
)


class Counting(Loop):
    """Takes its requests for the first of their turn."""

    most = 1

    def ask(self, query: Query) -> ModelAnswer:
        """Make one request."""
        asked = self.counts["model calls"]
        always(asked <= self.most, "a turn asks a few times", {"asked": asked})
        if asked > self.policy.max_model_calls:
            unreachable("more requests than the policy allows")
        return super().ask(query)


class Bounded(Counting):
    """Knows how often it may ask."""

    most = 1_000


def agent(brief: Brief) -> None:
    """The reference agent with a wrong bound in its mark."""
    build(brief, turn=Counting).run()


def look_alike(brief: Brief) -> None:
    """One whose bound is that of its policy."""
    build(brief, turn=Bounded).run()
