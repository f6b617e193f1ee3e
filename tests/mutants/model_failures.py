"""Failures of the model: wrong agents that take one for another, or wait too long or too little."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.agent import build
from harness.agent.composition import is_on, standard_model
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.failures import OVERFLOW_PHRASES, ModelFailure
from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text, canonical
from tests.mutants import mutant
from tests.mutants.own_schedule import build_scheduled
from tests.mutants.second_model import SecondModel, Show, build_with


class Patient(SecondModel):
    """Waits longer each time, and does not know that it is not alone."""

    def __init__(self, inner: LanguageModel, brief: Brief) -> None:
        super().__init__(inner)
        self._brief = brief

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Try twice more."""
        for times in range(2):
            self._brief.clock.sleep(4.0 * 2**times)
            try:
                return self.inner.query(self.asked(query, times), show)
            except ModelFailure as another:
                failure = another
        raise failure

    def asked(self, query: Query, times: int) -> Query:
        """What is asked then."""
        return query


@mutant(
    breaks="model",
    statement="Router and completion both retry: n times m requests (incidents 104; litellm #2620)",
    scenario="overloaded",
    killed_by="retry_budget.request",
)
def three_layers_retry(brief: Brief) -> None:
    """The SDK retries, the agent retries the SDK, and both take three times.

    The reference agent with one layer of retries too many.
    """
    build(brief, model=Patient(standard_model(brief), brief)).run()


class Deaf(SecondModel):
    """Knows an overflow by its words alone."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Give up on other words."""
        known = any(phrase in failure.text.lower() for phrase in OVERFLOW_PHRASES)
        raise failure if known else ModelFailure("permanent", failure.text)


@mutant(
    breaks="model",
    statement="A 413 is not a context error, and ends the turn (incidents 30; AutoGPT #12625)",
    scenario="overflow-shapes/too-large-for-a-proxy",
    killed_by="expect.outcome",
)
def deaf_to_413(brief: Brief) -> None:
    """Only the phrase counts: a proxy's 413 has other words.

    The reference agent that does not look at the status.
    """
    build_with(Deaf, brief)


class Hopeful(SecondModel):
    """Calls every failure an overflow."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Hope that less is better."""
        raise ModelFailure("overflow", failure.text) from failure


@mutant(
    breaks="model",
    statement="An error of another kind takes attempts of the escalation (AutoGPT #12413)",
    scenario="overflow-shapes/another-error-after-compaction",
    killed_by="expect.calls",
)
def escalates_any_error(brief: Brief) -> None:
    """A smaller request is tried after any failure.

    The reference agent that shrinks the history on every error.
    """
    build_with(Hopeful, brief)


@mutant(
    breaks="model",
    statement="No use is made of retry-after: lock-outs follow (incidents 113; cline #713)",
    scenario="overloaded/rate-limit",
    killed_by="backoff.before_retry_after",
)
def ignores_retry_after(brief: Brief) -> None:
    """The waits grow, but ignore the wait that the provider asked for.

    The reference agent with its own schedule.
    """
    build_scheduled(brief, 1.0, 2.0, 4.0)


@mutant(
    breaks="model",
    statement="Milliseconds of retry-after-ms are slept as seconds (fault H10)",
    scenario="told-when-to-come-back/in-milliseconds",
    killed_by="backoff.misread",
)
def sleeps_milliseconds_as_seconds(brief: Brief) -> None:
    """The header asks for 43 ms, and the next try comes after 43 s.

    The reference agent that waits for each number as seconds.
    """
    build_scheduled(brief, 43.0)


def _as_it_is(client: Any) -> Any:
    return client


class ObeysAnyRetryAfter(AnthropicModel):
    """Leaves retry-after to the SDK."""

    bounded = staticmethod(_as_it_is)


@mutant(
    breaks="model",
    statement="The SDK obeys a retry-after counted in days, and the user hears nothing (pi #4991)",
    scenario="silent-provider/come-back-tonight+stream",
    killed_by="backoff.above_cap",
)
def obeys_any_retry_after(brief: Brief) -> None:
    """The provider says: come back tonight. The agent sleeps ten hours inside one call.

    The reference agent without a cap on retry-after.
    """
    build(brief, model=ObeysAnyRetryAfter(brief.anthropic(), stream=True)).run()


class OverflowByAnswerText(SecondModel):
    """Takes an answer that quotes the error for the error."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Fail on the phrase."""
        text = answer.message.text.lower()
        if any(phrase in text for phrase in OVERFLOW_PHRASES):
            raise ModelFailure("overflow", text)
        return answer


@mutant(
    breaks="model",
    statement="An answer that quotes the provider is taken for a context error (AutoGPT #12625)",
    scenario="overflow-lookalikes/in-the-answer",
    killed_by="expect.outcome",
)
def overflow_by_answer_text(brief: Brief) -> None:
    """The phrase is looked for in the answer itself.

    The reference agent that mistrusts quotations.
    """
    build_with(OverflowByAnswerText, brief)


class OverflowByConversation(SecondModel):
    """Takes a message that quotes the error for the error."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Fail on the phrase in the newest message."""
        text = canonical(query.messages[-1]).lower()
        if query.purpose == "main" and any(phrase in text for phrase in OVERFLOW_PHRASES):
            raise ModelFailure("overflow", text)
        return answer


@mutant(
    breaks="model",
    statement="A tool result or a question with the phrase escalates (AutoGPT #12625)",
    scenario="overflow-lookalikes/in-a-tool-result",
    killed_by="expect.outcome",
)
def overflow_by_conversation(brief: Brief) -> None:
    """The phrase is searched in the whole conversation.

    The reference agent that mistrusts quotations.
    """
    build_with(OverflowByConversation, brief)


class OverflowByTokens(SecondModel):
    """Takes every limit for the window."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Call it an overflow."""
        kind = "overflow" if "tokens" in failure.text else failure.kind
        raise ModelFailure(kind, failure.text) from failure


@mutant(
    breaks="model",
    statement="A rate limit or `max_tokens_exceeded` escalates (AutoGPT #12413, first patterns)",
    scenario="overflow-lookalikes/reply-limit",
    killed_by="expect.calls",
)
def overflow_by_tokens(brief: Brief) -> None:
    """Any error that speaks of tokens counts as a prompt that is too long.

    The reference agent with one pattern too many.
    """
    build_with(OverflowByTokens, brief)


@mutant(
    breaks="model",
    statement="A retry loop without a wait keeps the provider down (fault K6)",
    scenario="overloaded/for-a-moment",
    killed_by="backoff.too_soon",
)
def retries_at_once(brief: Brief) -> None:
    """The next attempt follows at once. The reference agent that does not wait."""
    build_scheduled(brief, 0.0, 0.0)


class Wordy(Patient):
    """Numbers its tries, where the model reads it."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Try four times more, three requests each."""
        for times in range(4):
            self._brief.clock.sleep(4.0 * 2**times)
            try:
                return self.inner.query(_numbered(query, times + 2), show)
            except ModelFailure as another:
                failure = another
        raise failure


def _numbered(query: Query, number: int) -> Query:
    *earlier, last = query.messages
    told = Message(last.role, (*last.blocks, Text(f"(attempt {number})")))
    return msgspec.structs.replace(query, messages=(*earlier, told))


@mutant(
    breaks="model",
    statement="The budget is reset by each change of the request (incidents 45, 74)",
    scenario="overloaded",
    killed_by="retry_budget.turn",
)
def retries_in_other_words(brief: Brief) -> None:
    """Each retry says in the request that it is one, so no counter sees the same request twice.

    The reference agent whose retries look new.
    """
    build(brief, model=Wordy(standard_model(brief), brief)).run()


RETRIES = 3


class Stubborn(SecondModel):
    """Has a budget, and fills it up again at the wrong place."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Try again, while there is a budget."""
        budget = RETRIES
        while failure.kind == "transient" and budget > 0:
            budget = RETRIES - 1
            try:
                return self.inner.query(query, show)
            except ModelFailure as another:
                failure = another
        raise failure


@mutant(
    breaks="model",
    statement="An unconditional reset of the back-off budget is endless (AutoGPT #12413, draft)",
    scenario="overflow-shapes/overloaded-for-ever-after-compaction",
    killed_by="backoff.too_soon",
)
def resets_backoff(brief: Brief) -> None:
    """Each retry resets the retry budget. The reference agent that is always at its first retry."""
    build_with(Stubborn, brief)


class SleepsForAnHour(AnthropicModel):
    """Leaves the client as it is."""

    def __init__(self, brief: Brief) -> None:
        client = brief.anthropic()
        super().__init__(client, is_on(brief, "stream"))
        self._client = client


@mutant(
    breaks="model",
    statement="Stuck for days on a monthly limit (incidents 103; pi #4991)",
    scenario="overloaded/come-back-in-an-hour",
    killed_by="backoff.above_cap",
)
def sleeps_for_an_hour(brief: Brief) -> None:
    """The SDK obeys any retry-after, and the agent sets no bound.

    The reference agent that sleeps when it is told to.
    """
    build(brief, model=SleepsForAnHour(brief)).run()


def follows_one(error: BaseException | None) -> bool:
    """Whether the phrase stands in the one chain that is followed."""
    while error is not None:
        if any(phrase in str(error).lower() for phrase in OVERFLOW_PHRASES):
            return True
        error = error.__cause__ or error.__context__
    return False


class Wrapping(SecondModel):
    """A client library that names the connection as the cause of any failure."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Raise it again and classify the raised error."""
        try:
            raise RuntimeError("the stream failed") from OSError("connection closed")
        except RuntimeError as error:
            found = follows_one(error)
            raise ModelFailure("overflow" if found else "permanent", str(error)) from error


@mutant(
    breaks="model",
    statement="A context error behind `__context__` is missed (AutoGPT #12413)",
    scenario="overflow-shapes",
    killed_by="expect.outcome",
)
def follows_only_cause(brief: Brief) -> None:
    """The chain of an error is followed by `__cause__` where there is one, else by `__context__`.

    The reference agent behind such a library.
    """
    build_with(Wrapping, brief)
