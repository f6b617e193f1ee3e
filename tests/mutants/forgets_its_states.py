"""A workflow of plan, work and check goes back to its plan, also in a state that it was in."""

from __future__ import annotations

from typing import Any

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import ModelAnswer
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.messages import user
from tests.mutants import Mutant
from tests.mutants.thanks_the_other_agent import stopped

MUTANT = Mutant(
    breaks="loop",
    statement="A graph whose nodes lead back to the first one, without a stop (langmanus #61)",
    scenario="plan-work-check",
    killed_by="answer_taken.same_round",
)

_NEXT = ("Do what you planned.", "Check it: PASSED or FAILED?", "Make the plan again.")
"""What each node asks for, after the plan, the work and the check."""


class Nodes(Loop):
    """Leads from node to node until a check has passed."""

    def __init__(self, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self.state: tuple[str, ...] = ()
        self.past: list[tuple[str, ...]] = []

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of the last check; None while there is a next node."""
        outcome = super().finish(answer)
        if outcome is None or outcome.status != "ok":
            return outcome
        node = len(self.state)
        self.state = (*self.state, answer.message.text)
        if node == len(_NEXT) - 1:
            if self.is_over(answer.message.text):
                return outcome
            if self.is_stuck():
                return stopped(answer, "A second round came to the same, so I stopped.")
            self.past.append(self.state)
            self.state = ()
        self.transcript.append(answer.message)
        self.transcript.append(user(_NEXT[node]))
        return None

    def is_over(self, verdict: str) -> bool:
        """Whether the check has passed."""
        return "PASSED" in verdict

    def is_stuck(self) -> bool:
        """Whether a round ended as an earlier one did: it does not look."""
        return False


class Remembering(Nodes):
    """Knows the states that it was in."""

    def is_stuck(self) -> bool:
        """Whether a round ended as an earlier one did."""
        return self.state in self.past


def agent(brief: Brief) -> None:
    """The reference agent as a workflow without a memory of its states."""
    build(brief, turn=Nodes, policy=Policy(max_model_calls=20)).run()


def look_alike(brief: Brief) -> None:
    """One that stops at the second equal state."""
    build(brief, turn=Remembering).run()
