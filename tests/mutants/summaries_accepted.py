"""What the agent takes for a summary: wrong agents that take too much, or too little."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, side, user
from tests.mutants import mutant


def _any_text(answer: ModelAnswer, told: str) -> bool:
    return bool(answer.message.text.strip())


@mutant(
    breaks="compaction",
    statement="A compacted history that is not valid is accepted (AutoGPT #12413)",
    scenario="overflow-summaries/cut-off",
    killed_by="compaction_progress.unusable",
)
def accepts_cut_summary(brief: Brief) -> None:
    """A summary that was cut off in the middle is used.

    The reference agent that does not ask why a summary stopped.
    """
    build(brief, compaction=partial(compact, is_summary=_any_text)).run()


def _or_nothing(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    return compact(messages, budget_tokens, ask) or Compacted(Message("user"), 1)


@mutant(
    breaks="compaction",
    statement="The conversation is replaced by nothing, and stays lost (AutoGPT #12413)",
    scenario="overflow-summaries/empty-then-two-turns",
    killed_by="history_faithful.forgotten_past",
)
def accepts_empty_summary(brief: Brief) -> None:
    """An empty compaction takes the place of the history, for good.

    The reference agent that takes no summary for an empty one.
    """
    build(brief, compaction=_or_nothing).run()


def _any_size(compacted: Compacted, messages: Sequence[Message]) -> bool:
    return True


@mutant(
    breaks="compaction",
    statement="After a compaction the prompt has grown (incidents 43, 54)",
    scenario="overflow-summaries/longer-than-before",
    killed_by="compaction_progress.larger",
)
def accepts_longer_summary(brief: Brief) -> None:
    """A summary that is longer than what it stands for is accepted.

    The reference agent that does not measure its summaries.
    """
    build(brief, compaction=partial(compact, saves_enough=_any_size)).run()


@mutant(
    breaks="compaction",
    statement="A compaction equal to its input is accepted, and costs an attempt (AutoGPT #12413)",
    scenario="prompt-too-long/compaction-changes-nothing",
    killed_by="compaction_progress.larger",
)
def accepts_unchanged_summary(brief: Brief) -> None:
    """A compaction that gives back what it was given counts as one.

    The reference agent that does not compare.
    """
    build(brief, compaction=partial(compact, is_summary=_any_text, saves_enough=_any_size)).run()


def _shorten(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    errors = list[str]()

    def asked(query: Query) -> ModelAnswer:
        try:
            return ask(query)
        except ModelFailure as failure:
            errors.append(str(failure))
            raise

    written = compact(messages, budget_tokens, asked)
    return written or Compacted(user(f"Summary of the conversation so far:\n{errors}"), 1)


@mutant(
    breaks="compaction",
    statement="A failed summary is replaced by the text of its error",
    scenario="what-a-summary-replaces/no-summary",
    killed_by="summary_used.error",
)
def takes_an_error_for_a_summary(brief: Brief) -> None:
    """The text of the error becomes the summary. The reference agent with such a summary."""
    build(brief, compaction=_shorten).run()


SDK_S = 3 * 600.0
"""Ten minutes for each of the SDK's three tries."""


def _patient(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    def wait(query: Query) -> ModelAnswer:
        return ask(msgspec.structs.replace(query, timeout_s=SDK_S))

    return compact(messages, budget_tokens, wait)


@mutant(
    breaks="compaction",
    statement="A compaction that hangs holds the turn for half an hour (AutoGPT #12413)",
    scenario="overflow-summaries/hangs",
    killed_by="limit",
)
def waits_for_summary(brief: Brief) -> None:
    """The request for a summary has no time-out of its own.

    The reference agent that waits as long as the SDK does.
    """
    build(brief, compaction=_patient).run()


def _shorten_or_wipe(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    return compact(messages, budget_tokens, ask) or Compacted(Message("user"), 1)


@mutant(
    breaks="compaction",
    statement="A failed summary wipes the conversation",
    scenario="what-a-summary-replaces/no-summary",
    killed_by="summary_used.wiped",
)
def wipes_after_a_failed_summary(brief: Brief) -> None:
    """A summary that failed replaces the past all the same.

    The reference agent with such a summary.
    """
    build(brief, compaction=_shorten_or_wipe).run()


def _last_words(told: str, heading: str) -> Compacted:
    return Compacted(user(f"{heading}\n{told}"), 1)


def _shorten_or_repeat(
    heading: str, messages: Sequence[Message], budget_tokens: int, ask: Ask
) -> Compacted | None:
    said = [message.text for message in messages if side(message) == "assistant" and message.text]
    return compact(messages, budget_tokens, ask) or _last_words(said[-1], heading)


def _right_repeats_its_last_words(brief: Brief) -> None:
    """The reference agent that keeps its last words, and says that the rest is lost."""
    heading = "What was said before could not be summed up, and is left out. Your last words were:"
    build(brief, compaction=partial(_shorten_or_repeat, heading)).run()


@mutant(
    breaks="compaction",
    statement="An empty summary: the last answer stands for the whole (docker-agent #3469)",
    scenario="overflow-summaries/empty-then-two-turns",
    killed_by="summary_used.wiped",
    look_alike=_right_repeats_its_last_words,
)
def last_words_for_a_summary(brief: Brief) -> None:
    """No summary came, and the last words of the agent are taken for one.

    The reference agent that looks for the last answer of the conversation.
    """
    heading = "Summary of the conversation so far:"
    build(brief, compaction=partial(_shorten_or_repeat, heading)).run()
