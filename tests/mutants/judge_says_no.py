"""A model is asked whether this is a loop, and its NO is the end of the matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.agent import build
from harness.agent.guards import EndTurn, Guard, Proceed, Refuse, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="The breaker asks a model, which says NO, and the loop goes on (seed 105, #16749)",
    scenario="circles/asks-a-judge",
    killed_by="no_progress_stop.same_call",
)


class Judged(RepeatGuard):
    """Stops only if the judge agrees."""

    def __init__(self, is_loop: Callable[[str], bool]) -> None:
        super().__init__()
        self._is_loop = is_loop

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Ask the judge about what looks like a loop."""
        decision = super().before(call)
        if isinstance(decision, Proceed) or self._is_loop(decision.text):
            return decision
        return Proceed()


def agent(brief: Brief) -> None:
    """The reference agent with a model for a judge."""
    client = brief.anthropic()

    def is_loop(why: str) -> bool:
        question = {"role": "user", "content": f"Is this a loop? Answer YES or NO. {why}"}
        answer = client.messages.create(
            model="claude-haiku-4-5",
            max_tokens=5,
            messages=[question],
            extra_headers={"x-harness-purpose": "aux"},
        )
        return bool(answer.content[0].text.startswith("YES"))

    def judged(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
        return (Judged(is_loop),)

    build(brief, guards=judged).run()
