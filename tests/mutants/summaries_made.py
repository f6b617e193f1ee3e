"""How a summary is made of a long past: wrong agents that lose, double or mix what was said."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.agent.models.model_call import Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text, user
from tests.mutants import mutant, splits_a_pair
from tests.mutants.overflows_handled import Anxious
from tests.mutants.summary_requests import Lines, build_with

LETTERS = 48


def _cut(told: Lines) -> Lines:
    return [line[:LETTERS] if line.startswith("user: ") else line for line in told]


@mutant(
    breaks="compaction",
    statement="A message of the user is cut at a number of characters before it is summed up",
    scenario="what-a-summary-replaces",
    killed_by="summary_informed.words",
)
def cuts_words_in_a_summary(brief: Brief) -> None:
    """What the user said is cut for the summary, and nothing says so.

    The reference agent with such a summary.
    """
    build_with(_cut, brief)


def _shorten(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    written = compact(messages, budget_tokens, ask)
    return Compacted(Message("user"), 1) if written else None


@mutant(
    breaks="compaction",
    statement="What a summary replaces is dropped, and the summary is not sent",
    scenario="what-a-summary-replaces",
    killed_by="summary_used.lost",
)
def loses_its_summary(brief: Brief) -> None:
    """The summary is written, and then forgotten. The reference agent with such a summary."""
    build(brief, compaction=_shorten).run()


def _shorten_twice(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    written = compact(messages, budget_tokens, ask)
    if written is None:
        return None
    first, *words = written.summary.blocks
    return Compacted(Message("user", (first, first, *words)), written.keep)


@mutant(
    breaks="compaction",
    statement="A summary stands twice in each request after it",
    scenario="what-a-summary-replaces",
    killed_by="summary_used.twice",
)
def says_its_summary_twice(brief: Brief) -> None:
    """Each place that may add the summary adds it. The reference agent with such a summary."""
    build(brief, compaction=_shorten_twice).run()


def _fresh(told: Lines) -> Lines:
    first = next((n for n, line in enumerate(told) if "Summary of the conv" in line), None)
    return told if first is None else told[first + 2 :]


@mutant(
    breaks="compaction",
    statement="A second compaction sums up what came since the first one, and replaces both",
    scenario="what-a-summary-replaces",
    killed_by="summary_informed.summary",
)
def second_summary_forgets_the_first(brief: Brief) -> None:
    """The second summary is written without the first. The reference agent with such a summary."""
    build_with(_fresh, brief)


def _shorten_as_the_user(
    messages: Sequence[Message], budget_tokens: int, ask: Ask
) -> Compacted | None:
    written = compact(messages, budget_tokens, ask)
    if written is None:
        return None
    summary, *words = written.summary.blocks
    assert isinstance(summary, Text)
    bare = Text(summary.text.partition("\n")[2])
    return Compacted(Message("user", (bare, *words)), written.keep)


@mutant(
    breaks="compaction",
    statement="A summary stands as a message of the user, without a word that says what it is",
    scenario="what-a-summary-replaces",
    killed_by="summary_used.voice",
)
def summary_in_the_users_voice(brief: Brief) -> None:
    """The summary is sent as if the user had said it. The reference agent with such a summary."""
    build(brief, compaction=_shorten_as_the_user).run()


@mutant(
    breaks="compaction",
    statement="The summary of one session is written from the conversation of another",
    scenario="summary-of-another-session",
    killed_by="summary_informed.other",
)
def sums_up_another_session(brief: Brief) -> None:
    """One place for all sessions keeps the text that is summed up.

    The reference agent that prepares the text once.
    """
    kept: Lines = []

    def prepared(told: Lines) -> Lines:
        kept[:] = kept or told
        return kept

    build_with(prepared, brief)


def _head(told: Lines) -> Lines:
    return told[: len(told) // 2]


@mutant(
    breaks="compaction",
    statement="A summary is written from the first messages and replaces all of them",
    scenario="what-a-summary-replaces",
    killed_by="summary_informed.words",
)
def sums_up_the_head(brief: Brief) -> None:
    """The model that sums up is shown the first half of what its summary replaces.

    The reference agent with such a summary.
    """
    build_with(_head, brief)


def _spoken(told: Lines) -> Lines:
    return [line for line in told if "result of a tool" not in line]


@mutant(
    breaks="compaction",
    statement="The results of tools are left out of what is summed up",
    scenario="what-a-summary-replaces",
    killed_by="summary_informed.rest",
)
def sums_up_without_results(brief: Brief) -> None:
    """The model that sums up is shown what was said, and no result of a tool.

    The reference agent with such a summary.
    """
    build_with(_spoken, brief)


def _first_of(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted:
    """A summary of the oldest message alone."""
    asked = Query((user(f"Summarise this. {messages[0].text}"),), purpose="compact")
    return Compacted(user(ask(asked).message.text), len(messages) - 1)


@mutant(
    breaks="compaction",
    statement="Compressed sixteen times, from 205K to 204K tokens (incident 52)",
    scenario="compressed-at-every-turn",
    killed_by="compaction_due.every_turn",
)
def compacts_each_turn(brief: Brief) -> None:
    """The threshold is that of a smaller model, so that each turn begins with a summary.

    The reference agent that shortens each conversation a little.
    """
    build(brief, turn=Anxious, compaction=_first_of).run()


def _whole(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    return compact(messages, budget_tokens * 1000, ask)


@mutant(
    breaks="compaction",
    statement="The compaction itself does not fit the window",
    scenario="prompt-too-long/all-attempts-fail",
    killed_by="compaction_preserves.too_large",
)
def compacts_in_one_piece(brief: Brief) -> None:
    """The request for a summary holds all that was too long before.

    The reference agent that sends everything to be summed up.
    """
    build(brief, compaction=_whole).run()


@mutant(
    breaks="compaction",
    statement="A result without its call is kept for the next provider (incidents 3, 4)",
    scenario="overflow-in-a-tool-loop/on-a-forgiving-provider",
    killed_by="tool_pairing.orphan",
)
def prunes_on_a_forgiving_provider(brief: Brief) -> None:
    """A compaction splits a pair, and the provider takes it: nothing but a check says so.

    The agent that cuts anywhere, on a provider that accepts it.
    """
    splits_a_pair.agent(brief)
