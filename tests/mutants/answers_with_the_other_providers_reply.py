"""After a failure the last words of the second provider are the answer."""

from __future__ import annotations

from examples.agents import fallback
from examples.agents.anthropic_rows import Row
from examples.agents.fallback import FallbackAgent
from harness import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="The other provider's answer to one message is kept, and given to the next one",
    scenario="second-provider-in-mid-turn/from-the-start",
    killed_by="truthful_outcome.no_answer",
)

look_alike = fallback.agent


class Wrong(FallbackAgent):
    """Keeps the last answer of the second provider, and gives it while that is asked too often."""

    last: Row | None = None

    def ask_second(self, request: Row) -> Row:
        """The answer of the turn before, where there is one."""
        answer, self.last = self.last, None
        if answer is None:
            answer = self.last = super().ask_second(request)
        return answer


def agent(brief: Brief) -> None:
    """The careful agent with a second provider, and that."""
    Wrong(brief).run()
