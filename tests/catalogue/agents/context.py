"""Agents that go wrong when the window is full."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_model
from harness.agent.context_overflow import Ask, Compacted, Escalation, compact
from harness.agent.gateway import Gateway
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, assistant, user
from tests.mutants.second_model import SecondModel, Show, build_with

_NEVER = partial(Escalation, stages=())
"""Makes nothing shorter."""

_LONG = Policy(max_model_calls=200, max_failures=200)


class _Endless(Loop):
    """Compacts after each overflow, and asks again after any outcome."""

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Begin with a fresh count of attempts."""
        if failure.kind != "overflow":
            raise failure
        compacted = _any_summary(self.transcript.messages, 1_000, self.model.query)
        if compacted is not None:
            self.transcript.compact(compacted.summary, compacted.keep)


_any_summary = partial(compact, is_summary=lambda *_: True, saves_enough=lambda *_: True)


def compacts_without_a_count(brief: Brief) -> None:
    """Compacts as often as the window is full, also where that failed or saved nothing."""
    build(brief, turn=_Endless, policy=_LONG).run()


class _Resending(Loop):
    """Sends what is too long again."""

    most = 100

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Take a full window for a trouble that passes."""
        if failure.kind != "overflow" or times >= self.most:
            raise failure


class _FiveTimes(_Resending):
    most = 5

    def check(self) -> None:
        """Continue after any message of the user."""


def sends_the_same_five_times(brief: Brief) -> None:
    """Takes tool responses away where there are none, and sends the same request five times."""
    build(brief, turn=_FiveTimes).run()


def resends_what_is_too_long(brief: Brief) -> None:
    """Takes an overflow for a passing trouble, without an end."""
    build(brief, turn=_Resending, policy=_LONG).run()


class _Ending(Gateway):
    """Ends the job with the first turn that failed."""

    failed = False

    def receive(self, inbound: Inbound) -> None:
        """Work until a turn fails."""
        if not self.failed:
            super().receive(inbound)

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Note a failure."""
        self.failed = outcome.status == "failed"
        super().settle(inbound, transcript, outcome)


def ends_the_job(brief: Brief) -> None:
    """Has too few groups to summarise, and ends the job."""
    build(brief, gateway=_Ending, overflow=_NEVER).run()


class _SilentlyEnding(Gateway):
    def deliver(self, inbound: Inbound, outcome: Outcome) -> None:
        """Say nothing about a turn that failed."""
        if outcome.status != "failed":
            super().deliver(inbound, outcome)


def bails_out_in_silence(brief: Brief) -> None:
    """Gives up a short conversation that cannot be shortened, without a message."""
    build(brief, gateway=_SilentlyEnding, overflow=_NEVER).run()


def _half(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted:
    ask(Query((user("Summarise this."),), purpose="compact"))
    return Compacted(user("(earlier messages were cut)"), len(messages) // 2)


def cuts_the_history_in_half(brief: Brief) -> None:
    """Drops the first half of the history, wherever that ends."""
    build(brief, compaction=_half, projection=list).run()


def looks_between_turns_alone(brief: Brief) -> None:
    """Makes nothing shorter within a turn."""
    build(brief, overflow=_NEVER).run()


class _OwnWindow(SecondModel):
    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """Refuse by a window that no model has."""
        raise ModelFailure("overflow", "the limit is exceeded, even after all tool responses")


def knows_a_wrong_window(brief: Brief) -> None:
    """Refuses each conversation as too long, by its own limit."""
    build_with(_OwnWindow, brief)


class _Noop(Escalation):
    def shrink(self, transcript: SessionTranscript, refusal: str, ask: Ask) -> bool:
        """Protect all there is, and count that as a compaction."""
        return True


def protects_a_long_tail(brief: Brief) -> None:
    """Keeps a tail that is longer than the window: each compaction changes nothing."""
    build(brief, overflow=_Noop).run()


class _TrustsSummaries(SecondModel):
    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Take the words of a wrapper for a summary."""
        if query.purpose == "compact":
            return ModelAnswer(assistant(failure.text), "end_turn")
        raise failure


def takes_a_refusal_for_the_summary(brief: Brief) -> None:
    """Goes on with "Prompt is too long" as the summary of the conversation."""
    trusting = _TrustsSummaries(standard_model(brief))
    build(brief, model=trusting, compaction=_any_summary).run()


class _Twice(Loop):
    """Estimates a prompt as half as much again as the provider counts."""

    threshold = 300_000
    real = 204_000

    def query(self, tools_withdrawn: bool = False) -> ModelAnswer:
        """The answer to what is left when the estimate is above the threshold."""
        if type(self).real * 3 // 2 > self.threshold and not self.counts["model calls"]:
            self.overflow.shrink(self.transcript, "", self.model.query)
        answer = super().query(tools_withdrawn)
        type(self).real = answer.tokens
        return answer


def _oldest(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted:
    asked = Query((user(f"Summarise this. {messages[0].text}"),), purpose="compact")
    return Compacted(user(ask(asked).message.text), len(messages) - 1)


def counts_the_tools_twice(brief: Brief) -> None:
    """Counts the schemas of the tools twice, and compresses a prompt that fits at each turn."""
    build(brief, turn=type("Twice", (_Twice,), {}), compaction=_oldest).run()
