"""Agents that deliver a reply twice, or a part beside the whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_model
from harness.agent.gateway import Gateway
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.outgoing import deliver
from harness.agent.sessions.transcript import RowTranscript, SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, assistant, user
from tests.mutants.second_model import SecondModel, Show


class _TwoPaths(Gateway):
    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Deliver by one path, and if that is not confirmed by the other."""
        for _ in range(2):
            try:
                self.brief.send(outcome.text, outcome.kind, inbound.session, inbound.id)
            except Exception:
                continue
            return True
        return False


def delivers_by_two_paths(brief: Brief) -> None:
    """Has two ways to deliver a reply, and no identity that they share."""
    build(brief, gateway=_TwoPaths).run()


class _Keeping(RowTranscript):
    finalise: Callable[[Outcome], bool]

    def keep(self, message: Message) -> None:
        """Store a message for the next turn."""
        self._store.append(self._session, message)


class _Noting(Gateway):
    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Tell the transcript whom it answers."""
        assert isinstance(transcript, _Keeping)
        transcript.finalise = partial(deliver, self.brief, inbound)
        super().turn(inbound, transcript)


class _Finalising(Loop):
    def ask(self, query: Query) -> ModelAnswer:
        """Ask, and note what comes."""
        self.came: list[str] = []
        return super().ask(query)

    def show(self, text: str) -> None:
        """Note a part of the answer."""
        self.came.append(text)

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Finalise what was streamed, and ask for the whole."""
        if self.came:
            assert isinstance(self.transcript, _Keeping)
            self.transcript.keep(part := assistant("".join(self.came)))
            self.transcript.finalise(Outcome("ok", part))
        super().recover(failure, times)


def finalises_and_falls_back(brief: Brief) -> None:
    """Makes a message of what was streamed, and another one of its replacement."""
    build(brief, turn=_Finalising, transcript=_Keeping, gateway=_Noting).run()


class _Flagged(Gateway):
    began_ms = 0

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Note when the turn begins."""
        self.began_ms = self.brief.clock.now_ms()
        super().turn(inbound, transcript)

    def deliver(self, inbound: Inbound, outcome: Outcome) -> None:
        """Send by hand what does not seem to be streamed, and then in the normal way."""
        if self.brief.clock.now_ms() - self.began_ms > 60_000:
            self.send(inbound, outcome)
        super().deliver(inbound, outcome)


def sends_slow_replies_by_hand(brief: Brief) -> None:
    """Reads too early whether a reply was streamed, and sends that of a slow turn twice."""
    build(brief, gateway=_Flagged).run()


class _Continuing(Gateway):
    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the reply; after a failure ask the model to go on, and send what comes."""
        try:
            self.brief.send(outcome.text, outcome.kind, inbound.session, inbound.id)
        except Exception:
            super().send(inbound, outcome)
            transcript = self.transcript_of(inbound.session)
            transcript.resume(inbound)
            transcript.append(user("Continue where you stopped."))
            super().send(inbound, self.loop_for(inbound, transcript).run())
        return True


def continues_after_a_delivery(brief: Brief) -> None:
    """Takes a reply that was not delivered for an answer that is not complete."""
    build(brief, gateway=_Continuing).run()


class _OneStart(SecondModel):
    has_begun = False

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Note that a stream has begun."""
        self.has_begun = True
        raise failure

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Read nothing behind a second beginning."""
        began, self.has_begun = self.has_begun, False
        return ModelAnswer(assistant(""), "end_turn") if began else answer


class _AnyEnd(Loop):
    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """Take each answer for the reply."""
        return Outcome("ok", answer.message)


def reads_one_start(brief: Brief) -> None:
    """Gives up at the second start of a stream, and tells an empty answer."""
    build(brief, model=_OneStart(standard_model(brief)), turn=_AnyEnd).run()
