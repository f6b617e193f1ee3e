"""A second request judges each answer, which is made again until the judge is satisfied."""

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
from harness.core.values.messages import user
from tests.mutants import Mutant
from tests.mutants.thanks_the_other_agent import stopped

MUTANT = Mutant(
    breaks="loop",
    statement="An evaluator hands the work back without a bound (arXiv 2607.01641, sixth shape)",
    scenario="judge-never-satisfied",
    killed_by="answer_taken.same_verdict",
)


class Judged(Loop):
    """Makes an answer again, up to `most` times, until the judge accepts it."""

    most = 1_000

    def __init__(self, judge: LanguageModel, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self.judge = judge

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of the answer that is accepted, or of the last one."""
        outcome = super().finish(answer)
        if outcome is None or outcome.status != "ok":
            return outcome
        question = user(f"Say ACCEPTED, or what is to be done better: {answer.message.text}")
        verdict = self.judge.query(Query((question,), system="You judge answers.")).message.text
        if "ACCEPTED" in verdict:
            return outcome
        self.counts["verdicts"] += 1
        if self.counts["verdicts"] > self.most:
            return stopped(answer, f"This is my last answer; the judge still says: {verdict}")
        self.transcript.append(answer.message)
        self.transcript.append(user(f"Your answer was judged. {verdict}"))
        return None


class Patient(Judged):
    """Gives its last answer after three verdicts."""

    most = 3


def agent(brief: Brief) -> None:
    """The reference agent whose judge has the last word."""
    build(
        brief,
        turn=partial(Judged, model_of_sub_agent(brief, "main-judge", "main")),
        policy=Policy(max_model_calls=11),
    ).run()


def look_alike(brief: Brief) -> None:
    """One that bounds the number of its attempts."""
    build(brief, turn=partial(Patient, model_of_sub_agent(brief, "main-judge", "main"))).run()
