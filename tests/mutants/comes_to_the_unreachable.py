"""The agent's author says that no model call fails, and builds on it."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.failures import ModelFailure
from harness.core.values.brief import Brief
from harness.targets.marks import always, reachable, sometimes, unreachable
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="A place that no run reaches, as its author says, is reached (issue 38)",
    scenario="bad-endings/server-error",
    killed_by="own_marks.reached",
)


class Believing(Loop):
    """Its author did not think of failures."""

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Wait, or change the conversation, after a failed call."""
        unreachable("a model call fails", {"kind": failure.kind})
        super().recover(failure, times)


class Knowing(Loop):
    """Its author knows them: what always holds does, and what never came is owed by a campaign."""

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Wait, or change the conversation, after a failed call."""
        reachable("a model call fails")
        always(times > 0, "failures are counted from 1", {"times": times})
        sometimes(times > 1_000, "a thousand failures")
        super().recover(failure, times)


def agent(brief: Brief) -> None:
    """The reference agent with a mark that is wrong."""
    build(brief, turn=Believing).run()


def look_alike(brief: Brief) -> None:
    """One whose marks are right."""
    build(brief, turn=Knowing).run()
