"""Agents that ask again where that cannot help, or too often, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_model
from harness.agent.gateway import Gateway
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import RowTranscript, SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import ToolUse, assistant
from tests.mutants.second_model import SecondModel, Show, build_with

_LONG = Policy(max_failures=200, retries={"broken_stream": 5, "transient": 5})


class _Reconnecting(SecondModel):
    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Reconnect, five of five."""
        for _ in range(5):
            try:
                return self.inner.query(query, show)
            except ModelFailure as another:
                failure = another
        raise failure


def reconnects_in_cycles(brief: Brief) -> None:
    """Reconnects five times of five, is called again, and counts from one."""
    build(brief, model=_Reconnecting(standard_model(brief)), policy=_LONG).run()


class _NoCase(Loop):
    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """End the turn with what was said, even if that is nothing."""
        self.check()
        said = ends.answered(answer.message, answer.stop)
        return said or Outcome("failed", assistant(""))


class _Waiting(Gateway):
    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Wait for the user where nothing was said."""
        if outcome.text.strip():
            super().settle(inbound, transcript, outcome)


def stands_still_after_nothing(brief: Brief) -> None:
    """Has no case for an answer without content, and waits until the user resumes it."""
    build(brief, turn=_NoCase, gateway=_Waiting).run()


class _Raising(SecondModel):
    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Expect a text or a call."""
        if not answer.message.text.strip() and not answer.message.tool_uses:
            raise RuntimeError("the answer has neither text nor a call")
        return answer


class _Aborting(Gateway):
    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message, and drop the run that raises."""
        with suppress(RuntimeError):
            self.settle(inbound, transcript, self.loop_for(inbound, transcript).run())


def raises_over_a_thought(brief: Brief) -> None:
    """Raises over an answer that consists of thinking, and the run is gone."""
    build(brief, model=_Raising(standard_model(brief)), gateway=_Aborting).run()


class _Unknown(SecondModel):
    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Sort a refusal under what is unknown."""
        if answer.stop == "refusal":
            raise ModelFailure("broken_stream", "unknown")
        return answer


def takes_a_refusal_for_unknown(brief: Brief) -> None:
    """Tries what is unknown without end, and counts a refusal as that."""
    policy = Policy(retries={"broken_stream": 1000}, max_failures=1000)
    build(brief, model=_Unknown(standard_model(brief)), policy=policy).run()


class _Invalid(SecondModel):
    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Look at the content before the stop reason."""
        if not answer.message.blocks:
            raise ModelFailure("broken_stream", "invalid response")
        return answer


def takes_a_refusal_for_invalid(brief: Brief) -> None:
    """Takes a refusal without content for an invalid response, and asks three times."""
    policy = Policy(retries={"broken_stream": 3})
    build(brief, model=_Invalid(standard_model(brief)), policy=policy).run()


class _Fallback(SecondModel):
    most = 20

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Ask the same model again, for the fallback raised its own error."""
        for _ in range(self.most):
            try:
                self._other(query)
            except ValueError:
                try:
                    return self.inner.query(query, show)
                except ModelFailure as another:
                    failure = another
        raise failure

    def _other(self, query: Query) -> ModelAnswer:
        """Refuse to write the request for the other model."""
        raise ValueError("top_k cannot be mapped")


def hammers_behind_a_fallback(brief: Brief) -> None:
    """Takes an error of the fallback's client for one that passes, and asks at once again."""
    build_with(_Fallback, brief)


class _Scratch(RowTranscript):
    begins = 0

    def open(self, inbound: Inbound) -> bool:
        """Note where the turn begins."""
        admitted = super().open(inbound)
        self.begins = len(self._rows)
        return admitted

    def restart(self) -> None:
        """Forget what was done in the turn."""
        self._rows = self._rows[: self.begins]


class _FromScratch(Loop):
    def recover(self, failure: ModelFailure, times: int) -> None:
        """Restart the turn."""
        super().recover(failure, times)
        assert isinstance(self.transcript, _Scratch)
        self.transcript.restart()


def begins_the_turn_anew(brief: Brief) -> None:
    """Begins the turn from its start when a stream breaks, tools included."""
    build(brief, turn=_FromScratch, transcript=_Scratch, policy=_LONG).run()


class _BlamesTheProvider(Loop):
    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Read the words of a tool's result as a failure of the provider."""
        outcome = super().execute(calls)
        assert isinstance(self.transcript, _Scratch)
        if "timed out" in self.transcript.messages[-1].tool_results[-1].text:
            self.transcript.restart()
        return outcome


def takes_a_tool_for_the_provider(brief: Brief) -> None:
    """Runs the whole task again when a tool says that it timed out."""
    build(brief, turn=_BlamesTheProvider, transcript=_Scratch).run()


class _Job(Gateway):
    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Run the agent again where it ended with an error, twice."""
        assert isinstance(transcript, _Scratch)
        for _ in range(3):
            outcome = self.loop_for(inbound, transcript).run()
            if outcome.status == "ok":
                break
            transcript.restart()
        self.settle(inbound, transcript, outcome)


def runs_a_job_again(brief: Brief) -> None:
    """Handles the agent's own limit as an ordinary error, and runs it again."""
    build(brief, gateway=_Job, transcript=_Scratch).run()
