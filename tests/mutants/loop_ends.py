"""When the loop ends: wrong agents that go on, or stop without an answer."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.gateway import Gateway
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.transcript import RowTranscript, SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome, answered
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, assistant, user
from harness.targets.marks import always, reachable, sometimes, unreachable
from tests.mutants import mutant
from tests.mutants.second_model import SecondModel, build_with


class Asking(Loop):
    """Takes nothing for an answer that is still to come."""

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of an answer without calls; None when it was empty."""
        self.check()
        return answered(answer.message, answer.stop)


@mutant(
    breaks="loop",
    statement="An empty reply is asked for again up to the cap (incident 111)",
    scenario="nothing-said-forty-times",
    killed_by="no_blind_resend",
)
def asks_for_ever_after_nothing(brief: Brief) -> None:
    """Each empty answer is followed by the same request, with no count and no hint.

    The reference agent that asks until something is said.
    """
    build(brief, turn=Asking).run()


class Continuing(Loop):
    """Takes words for the beginning of an answer, up to `most` times a turn."""

    most = 12

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of the last answer; None for the ones before."""
        outcome = super().finish(answer)
        self.counts["continued"] += 1
        if outcome is None or self.counts["continued"] > self.most:
            return outcome
        self.transcript.append(answer.message)
        self.transcript.append(user("Please go on."))
        return None


class Checking(Continuing):
    """Asks for another answer twice, as a validator of outputs does."""

    most = 2


def _right_asks_who_speaks_next(brief: Brief) -> None:
    """One whose validator asks for another form of the answer, twice."""
    build(brief, turn=Checking).run()


@mutant(
    breaks="loop",
    statement='A loop answers "continue" itself after each answer (incident 74)',
    scenario="counter-reset-by-the-fallback/nobody-else-speaks",
    killed_by="answer_taken.same_words",
    look_alike=_right_asks_who_speaks_next,
)
def asks_who_speaks_next(brief: Brief) -> None:
    """After each answer the agent asks itself who speaks next, and lets the model go on.

    The reference agent that lets the model go on.
    """
    build(brief, turn=Continuing).run()


class Counting(Loop):
    """Takes its requests for the first of their turn."""

    most = 1

    def ask(self, query: Query) -> ModelAnswer:
        """Make one request."""
        asked = self.counts["model calls"]
        always(asked <= self.most, "a turn asks a few times", {"asked": asked})
        if asked > self.policy.max_model_calls:
            unreachable("more requests than the policy allows")
        return super().ask(query)


class Bounded(Counting):
    """Knows how often it may ask."""

    most = 1_000


def _right_breaks_its_own_always(brief: Brief) -> None:
    """One whose bound is that of its policy."""
    build(brief, turn=Bounded).run()


@mutant(
    breaks="loop",
    statement="What always holds, as its author says, does not hold after a cut call (issue 38)",
    scenario="bad-endings/truncated-call",
    killed_by="own_marks.broken",
    look_alike=_right_breaks_its_own_always,
)
def breaks_its_own_always(brief: Brief) -> None:
    """The agent's author says that a turn asks the model once, which a cut call makes wrong.

    The reference agent with a wrong bound in its mark.
    """
    build(brief, turn=Counting).run()


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


def _right_comes_to_the_unreachable(brief: Brief) -> None:
    """One whose marks are right."""
    build(brief, turn=Knowing).run()


@mutant(
    breaks="loop",
    statement="A place that no run reaches, as its author says, is reached (issue 38)",
    scenario="bad-endings/server-error",
    killed_by="own_marks.reached",
    look_alike=_right_comes_to_the_unreachable,
)
def comes_to_the_unreachable(brief: Brief) -> None:
    """The agent's author says that no model call fails, and builds on it.

    The reference agent with a mark that is wrong.
    """
    build(brief, turn=Believing).run()


class Silent(Loop):
    """Says nothing where there is nothing good to say."""

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of an answer without calls."""
        is_said = bool(answer.message.text.strip())
        return super().finish(answer) if is_said else Outcome("ok", assistant(""))

    def conclude(self, reason: str) -> Outcome:
        """The outcome of a turn that was stopped."""
        return Outcome("ok", assistant(""))


@mutant(
    breaks="loop",
    statement="The program prints nothing, gives no reason and ends with status 0 (fault M1)",
    scenario="codex-empty-answer-succeeds@openai-responses+stream",
    killed_by="truthful_outcome.empty",
)
def ends_in_silence(brief: Brief) -> None:
    """A turn ends as a success with an empty text: after an empty answer, and after a stopped loop.

    The reference agent that ends in silence.
    """
    build(brief, turn=Silent).run()


class Keeping(RowTranscript):
    """A transcript with rows that the turn does not see."""

    def keep(self, message: Message) -> None:
        """Store a message for the next turn."""
        self._store.append(self._session, message)


class Thrifty(Loop):
    """Throws nothing away."""

    def ask(self, query: Query) -> ModelAnswer:
        """Ask, and note what comes."""
        self.came: list[str] = []
        return super().ask(query)

    def show(self, text: str) -> None:
        """Note a part of the answer."""
        self.came.append(text)
        super().show(text)

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Keep what came, as if it were an answer."""
        if failure.kind == "broken_stream" and self.came:
            assert isinstance(self.transcript, Keeping)
            self.transcript.keep(assistant("".join(self.came)))
        super().recover(failure, times)


@mutant(
    breaks="loop",
    statement="A partial message of a failed stream enters the history (incidents 8, 160)",
    scenario="answer-breaks-off+stream",
    killed_by="stream_error_handled.stored",
)
def keeps_half_an_answer(brief: Brief) -> None:
    """What came of an answer that broke off is stored, and the model is asked again.

    The reference agent that keeps parts of answers.
    """
    build(brief, turn=Thrifty, transcript=Keeping).run()


class Impatient(SecondModel):
    """Knows calls, and takes all else for the end."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """A pause as an end."""
        is_paused = answer.stop == "pause_turn"
        return msgspec.structs.replace(answer, stop="end_turn") if is_paused else answer


@mutant(
    breaks="loop",
    statement="`pause_turn` is told as a final answer (fault M25)",
    scenario="paused-in-the-middle",
    killed_by="truthful_outcome.unfinished",
)
def pause_is_an_answer(brief: Brief) -> None:
    """Every answer without a call ends the turn: a pause of the model is told as its reply.

    The reference agent that takes a pause for an end.
    """
    build_with(Impatient, brief)


class Unseen(list[str]):
    """What was shown, of which nothing counts."""

    def __bool__(self) -> bool:
        """Nothing was shown."""
        return False


class Eager(Gateway):
    """Shows every part of an answer at once, and does not remember it."""

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work with a loop that forgets what it has shown."""
        original = self.loop_for

        def loop_for(inbound: Inbound, transcript: SessionTranscript) -> Loop:
            loop: Any = original(inbound, transcript)
            loop.seen = Unseen()
            where = {"session": inbound.session, "in_reply_to": inbound.id}
            loop._show = partial(self.brief.send, kind="partial", **where)
            return loop  # type: ignore[no-any-return]

        self.loop_for = loop_for
        super().turn(inbound, transcript)
        self.loop_for = original


@mutant(
    breaks="loop",
    statement="The retry says again what the user has read (AutoGPT #12413, first draft)",
    scenario="overflow-shapes/stop-reason",
    killed_by="outbound_once.repeated",
)
def retries_after_text(brief: Brief) -> None:
    """A request is made again although the user has read a part of the answer.

    The reference agent that streams to the user, and retries all the same.
    """
    build(brief, gateway=Eager).run()


@mutant(
    breaks="loop",
    statement="Every success resets the budget of failures, so that a turn has none (fault S1)",
    scenario="budget-that-success-refills+stream",
    killed_by="retry_budget.turn",
)
def success_refills_the_budget(brief: Brief) -> None:
    """Each complete answer resets the budget of failures.

    The reference agent whose budget of one more try holds for one request only.
    """
    build(brief, policy=Policy(max_failures=1_000)).run()
