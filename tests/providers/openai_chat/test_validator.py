"""The fold: what is valid by construction passes, each mutation is refused by its own rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import (
    Message,
    Opaque,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.providers.openai_chat.record import RECORD
from harness.providers.openai_chat.validator import ChatFold, refuse
from tests.providers.openai_chat import strategies as some
from tests.providers.openai_chat.strategies import round_of


def rules(messages: list[Message], dialect: str = RECORD.dialects.default) -> list[str]:
    """The rules that a list breaks, first one first."""
    return [violation.rule for violation in refuse(messages, dialect)]


@given(some.histories(), st.sampled_from(RECORD.dialects.names))
def test_a_valid_history_is_accepted(messages: list[Message], dialect: str) -> None:
    assert rules(messages, dialect) == []


def test_results_of_one_user_message_count_as_the_rows_they_are() -> None:
    start, calls, *_ = round_of("a", "b")
    together = results(ToolResult("a", "1"), ToolResult("b", "2"))
    assert rules([start, calls, together]) == []
    assert rules([start, calls, results(ToolResult("a", "1"))]) == ["C1"]
    told = Message("user", (*together.blocks, Text("and now?")))
    assert rules([start, calls, told], "strict") == []


@pytest.mark.parametrize("between", [user("x"), assistant("x"), Message("system", (Text("x"),))])
def test_results_follow_their_calls_at_once(between: Message) -> None:
    start, calls, answer = round_of("a")
    assert rules([start, calls, between, answer]) == ["C1", "C2"]


def test_results_may_come_in_any_order() -> None:
    start, calls, one, two = round_of("a", "b")
    assert rules([start, calls, two, one], "strict") == []


def test_the_message_after_open_calls_is_the_one_that_is_named() -> None:
    start, calls, one, _ = round_of("a", "b")
    found = refuse([start, calls, one, user("x")], RECORD.dialects.default)
    assert "did not have response messages: b" in found[0].error.message


def test_an_id_may_come_again_in_a_later_turn() -> None:
    assert rules([*round_of("a"), *round_of("a")]) == []


def test_system_rows_stand_anywhere_and_break_no_alternation() -> None:
    note = Message("system", (Text("be brief"),))
    assert rules([note, user("a"), note, assistant("b"), note, user("c")], "strict") == []


@pytest.mark.parametrize(
    "messages",
    [[user("a"), user("b")], [user("a"), assistant("b"), assistant("c")], [assistant("a")]],
)
def test_only_the_strict_dialect_asks_for_alternation(messages: list[Message]) -> None:
    assert rules(messages, "strict") == ["C32"]
    assert rules(messages) == rules(messages, "lenient") == []


def test_a_refusal_or_a_call_stands_for_a_content() -> None:
    refusal = assistant(Opaque("refusal", {"refusal": "no"}))
    legacy = assistant(ToolUse("f", "f", {}, {"type": "function_call"}))
    for said in (refusal, legacy):
        assert rules([user("a"), said], "strict") == []


def test_empty_texts_are_refused_by_clones_only() -> None:
    for said in (user(""), assistant(""), Message("system", (Text(""),))):
        assert rules([user("a"), assistant("b"), said], "openai-chat") == []
        assert "C31" in rules([user("a"), assistant("b"), said], "strict")
    assert rules([*round_of("a")[:2], Message("tool", (ToolResult("a"),))]) == []


Mutation = Callable[[list[Message]], list[Message]]
SURE = round_of("sure_1", "sure_2")
MUTATIONS: dict[str, Mutation] = {
    "C1": lambda made: [m for m in made if m != SURE[2]],
    "C2": lambda made: [*made, assistant("so"), Message("tool", (ToolResult("x"),))],
    "C3": lambda made: _after(made, SURE[3], Message("tool", (Text("x"),))),
    "C4": lambda made: _after(made, SURE[3], SURE[3]),
    "C5": lambda made: _after(made, SURE[3], Message("tool", (ToolResult("nobody", "x"),))),
    "C6": lambda made: [*made, Message("user")],
    "C7": lambda made: [*made, Message("assistant")],
    "C15": lambda made: [*made, Message("model", (Text("x"),))],
    "C16": lambda made: [*made, Message("user", (Opaque("video", {"type": "video", "x": 1}),))],
}


def _after(made: list[Message], place: Message, more: Message) -> list[Message]:
    at = made.index(place) + 1
    return [*made[:at], more, *made[at:]]


@pytest.mark.parametrize("rule", MUTATIONS)
@given(some.histories(), some.histories())
def test_a_mutation_is_refused_by_its_own_rule(
    rule: str, before: list[Message], after: list[Message]
) -> None:
    made = [*before, *SURE, assistant("so"), *after]
    assert set(rules(MUTATIONS[rule](made))) == {rule}


@given(st.data())
def test_going_back_leaves_no_trace(data: st.DataObject) -> None:
    wild = st.lists(st.sampled_from(_POOL), max_size=8)
    first, second = data.draw(wild), data.draw(wild)
    keep = next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    fold = ChatFold("strict")
    fold.extend(first)
    fold.rewind(keep)
    fold.extend(second[keep:])
    assert fold.finish() == refuse(second, "strict")


_POOL = (
    user("a"),
    assistant("b"),
    *round_of("x")[1:],
    *round_of("y")[1:],
    assistant(ToolUse("x", "f", {}), ToolUse("y", "f", "")),
    results(ToolResult("y"), ToolResult("x")),
    Message("assistant"),
    Message("tool", (Text("x"),)),
    Message("developer", (Text("x"),)),
)
