"""The fold: what is valid by construction passes, each mutation is refused by its own rule."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import (
    Block,
    Message,
    Opaque,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.validator import AnthropicFold, refuse
from tests.providers.anthropic.strategies import histories, round_of, texts

ORPHAN = ToolResult("toolu_nobody", "x")


@given(histories(), st.sampled_from(RECORD.dialects.names))
def test_a_valid_history_is_accepted(messages: list[Message], dialect: str) -> None:
    assert refuse(messages, dialect) == ()


@given(histories(), histories(), texts)
def test_neighbours_of_one_role_are_one_turn(
    messages: list[Message], more: list[Message], text: str
) -> None:
    glued = [*messages, user(text), *_renamed(more)]
    assert refuse(glued, RECORD.dialects.default) == ()
    assert "V1" in {v.rule for v in refuse(glued, "strict")}


def test_results_may_stand_in_several_user_messages() -> None:
    start, calls, answers = round_of("a", "b")
    apart = [Message("user", (block,)) for block in answers.blocks]
    assert refuse([start, calls, *apart], RECORD.dialects.default) == ()
    assert [v.rule for v in refuse([start, calls, apart[0]], RECORD.dialects.default)] == ["V4"]


def test_an_unanswered_call_at_the_end_names_only_the_missing_ids_message() -> None:
    found = refuse(round_of("a", "b")[:2], RECORD.dialects.default)
    assert [v.rule for v in found] == ["V4"]
    assert "messages.1:" in found[0].error.message
    assert "a, b." in found[0].error.message


def test_a_signed_summary_may_come_first() -> None:
    summary = Opaque("compaction", {"type": "compaction", "content": "so far"})
    assert refuse([Message("assistant", (summary,)), user("go on")], RECORD.dialects.default) == ()


def test_a_system_message_after_a_user_turn_keeps_the_pairing() -> None:
    start, calls, answers = round_of("a")
    note = Message("system", (Text("be brief"),))
    assert refuse([start, calls, answers, note], RECORD.dialects.default) == ()


Mutation = Callable[[list[Message]], list[Message]]


def _renamed(messages: list[Message]) -> list[Message]:
    """The same history with other call ids."""

    def other(block: Block) -> Block:
        if isinstance(block, (ToolUse, ToolResult)):
            return msgspec.structs.replace(block, id=f"other_{block.id}")
        return block

    return [Message(m.role, tuple(map(other, m.blocks))) for m in messages]


def _drop_result(messages: list[Message]) -> list[Message]:
    return _on_results(messages, lambda blocks: (*blocks[1:], Text("x")))


def _add_orphan(messages: list[Message]) -> list[Message]:
    return _on_results(messages, lambda blocks: (ORPHAN, *blocks))


def _double_result(messages: list[Message]) -> list[Message]:
    return _on_results(messages, lambda blocks: (blocks[0], *blocks))


def _text_first(messages: list[Message]) -> list[Message]:
    return _on_results(messages, lambda blocks: (Text("x"), *blocks))


def _on_results(
    messages: list[Message], change: Callable[[tuple[Block, ...]], tuple[Block, ...]]
) -> list[Message]:
    at = next(n for n, message in enumerate(messages) if message.tool_results)
    changed = Message("user", change(messages[at].blocks))
    return [*messages[:at], changed, *messages[at + 1 :]]


def _repeat_id(messages: list[Message]) -> list[Message]:
    """A turn that says one of its calls twice."""
    at = next(n for n, message in enumerate(messages) if message.tool_uses)
    twice = Message("assistant", (*messages[at].blocks, messages[at].tool_uses[0]))
    return [*messages[:at], twice, *messages[at + 1 :]]


def _blank(messages: list[Message]) -> list[Message]:
    return [*messages, Message("user", (Text(""),))]


def _white(messages: list[Message]) -> list[Message]:
    return [*messages, Message("user", (Text(" \n\t"),))]


def _hollow(messages: list[Message]) -> list[Message]:
    return [*messages, Message("assistant"), user("x")]


def _string_input(messages: list[Message]) -> list[Message]:
    return [*messages, assistant(ToolUse("new", "f", "{}")), Message("user", (_result("new"),))]


def _result(id_: str) -> ToolResult:
    return ToolResult(id_, "ok")


MUTATIONS: dict[str, list[Mutation]] = {
    "V4": [_drop_result],
    "V5": [_add_orphan],
    "V6": [_repeat_id],
    "V7": [_double_result],
    "V8": [_text_first],
    "V9": [_blank],
    "V10": [_white],
    "V11": [_hollow],
    "V31": [_string_input],
}


@pytest.mark.parametrize("rule", MUTATIONS)
@given(histories(), histories())
def test_a_mutation_is_refused_by_its_own_rule(
    rule: str, before: list[Message], after: list[Message]
) -> None:
    made = [*before, *round_of("sure_1", "sure_2")[1:], assistant("so"), *_renamed(after)]
    for mutate in MUTATIONS[rule]:
        found = refuse(mutate(made), RECORD.dialects.default)
        assert [v.rule for v in found][:1] == [rule]
        assert {v.rule for v in found} == {rule}


@given(st.data())
def test_going_back_leaves_no_trace(data: st.DataObject) -> None:
    wild = st.lists(st.sampled_from(_POOL), max_size=8)
    first, second = data.draw(wild), data.draw(wild)
    keep = next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    fold = AnthropicFold(RECORD.dialects.default)
    fold.extend([(message, None) for message in first])
    fold.rewind(keep)
    fold.extend([(message, None) for message in second[keep:]])
    assert fold.finish(second[-1] if second else None) == refuse(second, RECORD.dialects.default)


_POOL = (
    user("a"),
    assistant("b"),
    *round_of("x")[1:],
    *round_of("y")[1:],
    assistant(ToolUse("x", "f", {}), ToolUse("y", "f", {})),
    Message("user", (_result("y"), Text("t"), _result("x"))),
    Message("assistant"),
    Message("user", (Text(" "),)),
)
