"""Two tools of one reply run at the same time, both see no container, and both make one."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_environment
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.tool_environment import ENVIRONMENT_TOOLS, Environments
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse, results
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="environment",
    statement="Two tools that race on first use make two containers (seed 130)",
    scenario="environment-parity/two-at-once",
    killed_by="expect.calls",
)


class Unlocked(Environments):
    """Looks, and makes afterwards. Both racers have looked before either makes."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.looked = Barrier(2)

    def ready(self, task: str, tool: str) -> Any:
        """What the task has, or a new one."""
        if self.backend is None or tool not in ENVIRONMENT_TOOLS:
            return None
        if task not in self._made:
            self.looked.wait()
            self._made[task] = self.backend.create(self.spec_for(tool))
        return self._made[task]


class AtOnce(Loop):
    """Runs the calls of a reply at the same time."""

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """All calls in threads."""
        with ThreadPoolExecutor(len(calls)) as pool:
            self.transcript.append(results(*pool.map(self.toolbox.run, calls)))
        return None


def agent(brief: Brief) -> None:
    """The reference agent that runs tools at once and does not lock."""
    standard = standard_environment(brief)
    environment = Unlocked(standard.backend, standard.settings)
    build(brief, environment=environment, turn=AtOnce).run()
