"""Two agents talk within a turn: each takes the other's words for a message, without an end."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import model_of_sub_agent
from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text, user
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="Agents thank each other in a continuous loop (microsoft/autogen#390)",
    scenario="two-agents-thank-each-other",
    killed_by="answer_taken.same_round",
)

OVER = "GOODBYE"
"""The word with which the other agent ends the talk."""


def stopped(answer: ModelAnswer, why: str) -> Outcome:
    """The end of a turn at its bound: the last answer, and why there is none behind it."""
    return Outcome("failed", Message("assistant", (*answer.message.blocks, Text(f"[{why}]"))))


class Talking(Loop):
    """Hands each answer to another agent, up to `most` times, and goes on with what that says."""

    most = 1_000

    def __init__(self, other: LanguageModel, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self.other, self.told = other, list[Message]()

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of the last answer; None while the two go on."""
        outcome = super().finish(answer)
        if outcome is None or outcome.status != "ok":
            return outcome
        if self.counts["rounds"] >= self.most:
            return stopped(answer, f"We talked {self.most} times, so I stopped.")
        self.counts["rounds"] += 1
        self.told.append(user(answer.message.text))
        said = self.other.query(Query(tuple(self.told), system="You are Bo.")).message
        self.told.append(said)
        if OVER in said.text:
            return outcome
        self.transcript.append(answer.message)
        self.transcript.append(user(said.text))
        return None


class Polite(Talking):
    """Stops after two rounds, and says so."""

    most = 2


def agent(brief: Brief) -> None:
    """The reference agent that talks with another one."""
    build(
        brief,
        turn=partial(Talking, model_of_sub_agent(brief, "main-bo", "main")),
        policy=Policy(max_model_calls=10),
    ).run()


def look_alike(brief: Brief) -> None:
    """One that bounds the talk."""
    build(brief, turn=partial(Polite, model_of_sub_agent(brief, "main-bo", "main"))).run()
