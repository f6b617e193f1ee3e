"""What a compaction keeps word for word, and what it asks."""

from __future__ import annotations

import pytest

from harness.agent.context_overflow import SUMMARY_TIMEOUT_S, Compacted, compact
from harness.agent.conversation.projection import NO_OUTCOME
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.messages import (
    Message,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)

LONG = "all work and no play " * 60
CALL = assistant(Thinking("hm", signature="c2ln"), ToolUse("t", "look", {"a": 1}))
RESULT = results(ToolResult("t", "seen"))
PAST = [user("first " + LONG), assistant("one " + LONG)]


class Summariser:
    """Answers every query with a summary, and keeps the queries."""

    def __init__(self, text: str = "They talked.") -> None:
        self.queries: list[Query] = []
        self.text = text

    def __call__(self, query: Query) -> ModelAnswer:
        self.queries.append(query)
        return ModelAnswer(assistant(self.text), "end_turn")


def history_of(messages: list[Message], compacted: Compacted) -> list[Message]:
    """The history after a compaction."""
    return [compacted.summary, *messages[-compacted.keep :]]


@pytest.mark.parametrize(
    "end",
    [
        [user("now"), CALL, RESULT],
        [user("now"), assistant("Let me see."), CALL, RESULT],
        [user("now"), CALL, RESULT, assistant(ToolUse("u", "look", {})), results(ToolResult("u"))],
    ],
)
def test_the_last_assistant_turn_and_the_users_words_are_kept(end: list[Message]) -> None:
    messages = [*PAST, *end]
    compacted = compact(messages, 10_000, Summariser())
    assert compacted is not None
    history = history_of(messages, compacted)
    assert history[0].text.endswith("They talked.\nnow")
    assert history[1].role == "assistant"
    assert [r.id for m in history for r in m.tool_results] == [
        u.id for m in history for u in m.tool_uses
    ]
    if compacted.keep > 2 or end[-1] is RESULT:
        assert [b for m in history for b in m.blocks if isinstance(b, Thinking)] == [CALL.blocks[0]]


def test_what_comes_in_mid_turn_replaces_no_message_of_the_turn() -> None:
    end = [user("now"), CALL, RESULT, user("[child has ended]"), CALL, RESULT]
    compacted = compact([*PAST, *end], 10_000, Summariser())
    assert compacted is not None
    assert compacted.summary.text.endswith("They talked.\nnow\n[child has ended]")


def test_the_request_is_one_message_of_text_with_a_time_limit() -> None:
    ask = Summariser()
    assert compact([*PAST, user("now"), CALL, RESULT], 10_000, ask) is not None
    [query] = ask.queries
    assert (len(query.messages), query.tools, query.purpose) == (1, (), "compact")
    assert query.timeout_s == SUMMARY_TIMEOUT_S == 60
    assert "first" in query.messages[0].text
    assert "now" not in query.messages[0].text.split("\n\n", 1)[1]


def test_the_request_is_cut_to_the_budget() -> None:
    ask = Summariser()
    compact([*PAST * 20, user("now")], 500, ask)
    assert len(ask.queries[0].messages[0].text) < 500 * 4


@pytest.mark.parametrize("budget_tokens", [0, 1, 9, 39])
def test_a_summary_of_words_that_a_cut_would_lose_unseen_is_not_asked_for(
    budget_tokens: int,
) -> None:
    """A gateway counted 833,520 tokens for a prompt of 500: by its count, no cut had room to say
    so."""
    ask = Summariser()
    assert compact([*PAST, user("now")], budget_tokens, ask) is None
    assert ask.queries == []


def test_a_call_without_a_result_is_told_as_the_requests_tell_it() -> None:
    ask = Summariser()
    assert compact([*PAST, CALL, RESULT, user("stop"), CALL, user("now")], 10_000, ask) is not None
    assert NO_OUTCOME not in ask.queries[0].messages[0].text
    cut_off = assistant(ToolUse("u", "look", {"a": 2}))
    compact([*PAST, cut_off, user("and?"), assistant("Hm."), user("now")], 10_000, ask)
    assert f'called look with {{"a":2}}. {NO_OUTCOME}' in ask.queries[1].messages[0].text


def test_nothing_is_asked_where_nothing_can_be_summarised() -> None:
    ask = Summariser()
    assert compact([], 10_000, ask) is None
    assert compact([user("now " + LONG)], 10_000, ask) is None
    assert compact([user("now " + LONG), CALL, RESULT], 10_000, ask) is None
    assert ask.queries == []


def test_rows_that_are_never_sent_save_nothing() -> None:
    """Results without a call are stored, and no request has them."""
    sent = [user("first"), assistant("one " + LONG), user("now")]
    orphans = results(ToolResult("gone", LONG), ToolResult("gone", LONG))
    assert compact([orphans, *sent], 10_000, Summariser()) is None
    assert compact([*PAST, *sent], 10_000, Summariser()) is not None
