"""Any rows give a request that the API takes; nothing that is kept is touched."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from harness.agent.conversation.content import SIZE_MAX_BYTES
from harness.agent.conversation.projection import NO_OUTCOME, NO_TEXT, project
from harness.agent.models.anthropic_blocks import write_message
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from tests.agent.provider import violations

_IDS = st.sampled_from(["a", "b", "c", "a_2", ""])
_TEXTS = st.sampled_from(["hi", "", " \n", "more"])
_BLOCKS: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, _TEXTS),
    st.builds(Thinking, _TEXTS),
    st.builds(ToolUse, _IDS, st.just("look"), st.sampled_from([{}, None, {"x": 1}, [1]])),
    st.builds(ToolResult, _IDS, st.one_of(_TEXTS, st.tuples(st.builds(Text, _TEXTS)))),
    st.just(Opaque("image", {"type": "image"})),
)
_ROLES = st.sampled_from(["user", "assistant", "user", "assistant", "tool", "system", "odd"])
_ROWS = st.lists(st.builds(Message, _ROLES, st.lists(_BLOCKS, max_size=4).map(tuple)), max_size=12)


def problems(wire: list[Message]) -> list[str]:
    """What the API refuses in these messages; none at all is not a request yet."""
    return list(violations({"messages": [write_message(m) for m in wire]})) if wire else []


@given(_ROWS)
def test_any_rows_become_a_valid_request(rows: list[Message]) -> None:
    assert problems(project(rows)) == []


@given(_ROWS)
def test_projecting_twice_changes_nothing(rows: list[Message]) -> None:
    once = project(rows)
    assert project(once) == once


@given(_ROWS)
def test_the_rows_stay_as_they_are(rows: list[Message]) -> None:
    before = copy.deepcopy(rows)
    project(rows)
    assert rows == before


@given(_ROWS)
def test_every_text_that_can_be_sent_is_sent_once_in_order(rows: list[Message]) -> None:
    named = [
        Message(m.role, tuple(Text(f"{i}.{j}") for j, b in enumerate(m.blocks)))
        for i, m in enumerate(rows)
    ]
    kept = [m for m in named if m.role != "system"]
    first = next((i for i, m in enumerate(kept) if m.role != "assistant" and m.blocks), len(kept))
    said = [b for m in kept[first:] for b in m.blocks]
    assert [b for m in project(named) for b in m.blocks] == said


@given(st.lists(st.sampled_from(["plain", "tools"]), min_size=1, max_size=6), st.integers(1, 3))
def test_a_longer_history_has_the_shorter_ones_request_as_its_beginning(
    turns: list[str], more: int
) -> None:
    rows: list[Message] = []
    ends = []
    for n, kind in enumerate([*turns, *["plain"] * more]):
        rows.append(user(f"ask {n}"))
        ends.append(len(rows))
        if kind == "tools":
            rows += [assistant(ToolUse("same id", "look", {})), results(ToolResult("same id", "x"))]
            ends.append(len(rows))
        rows.append(assistant(f"answer {n}"))
    whole = project(rows)
    for end in ends:
        sent = project(rows[:end])
        assert whole[: len(sent)] == sent


def test_user_rows_in_a_row_are_one_message_of_blocks() -> None:
    assert project([user("a"), user("b")]) == [Message("user", (Text("a"), Text("b")))]


def test_a_missing_result_is_stubbed_and_results_come_first() -> None:
    rows = [
        user("go"),
        assistant(ToolUse("a", "look", {}), ToolUse("b", "look", {})),
        user("never mind"),
        results(ToolResult("b", "seen")),
    ]
    assert project(rows)[2].blocks == (
        ToolResult("a", NO_OUTCOME, is_error=True),
        ToolResult("b", "seen"),
        Text("never mind"),
    )


def test_orphans_and_second_results_are_left_out() -> None:
    rows = [
        user("go"),
        results(ToolResult("ghost", "boo")),
        assistant(ToolUse("a", "look", {})),
        results(ToolResult("a", "first"), ToolResult("a", "second")),
    ]
    assert project(rows)[2].blocks == (ToolResult("a", "first"),)
    assert len(project(rows)) == 3


def test_calls_that_share_an_id_keep_their_own_results() -> None:
    turn = [assistant(ToolUse("call", "look", {})), results(ToolResult("call", "x"))]
    wire = project([user("go"), *turn, assistant("ok"), user("again"), *turn])
    assert [u.id for m in wire for u in m.tool_uses] == ["call", "call_2"]
    assert [r.id for m in wire for r in m.tool_results] == ["call", "call_2"]


def test_thinking_alone_is_dropped_and_its_neighbours_are_one() -> None:
    rows = [user("a"), assistant(Thinking("hm", "sig")), user("b")]
    assert project(rows) == [Message("user", (Text("a"), Text("b")))]
    kept = [user("a"), assistant(Thinking("hm", "sig"), "so"), user("b")]
    assert project(kept) == kept


def test_it_begins_with_the_user() -> None:
    rows = [assistant(ToolUse("a", "look", {})), results(ToolResult("a", "x")), user("hi")]
    assert project(rows) == [user("hi")]


def test_a_blank_result_says_so() -> None:
    rows = [user("go"), assistant(ToolUse("a", "look", {})), results(ToolResult("a", " "))]
    assert project(rows)[2].tool_results[0].content == NO_TEXT


def test_an_id_that_is_copied_again_and_again_does_not_grow() -> None:
    rows, id_ = [user("go")], "toolu_" + "x" * 24
    for _ in range(30):
        rows += [assistant(ToolUse(id_, "t", {})), results(ToolResult(id_, "done"))]
        id_ = project(rows)[-2].tool_uses[0].id
        assert len(id_) <= 40
    ids = [call.id for message in project(rows) for call in message.tool_uses]
    assert len(set(ids)) == 30


def test_a_picture_too_large_to_send_is_a_note_wherever_it_stands() -> None:
    data = "A" * (SIZE_MAX_BYTES + 4)
    source: Json = {"type": "base64", "media_type": "image/png", "data": data}
    large = Opaque("image", {"type": "image", "source": source})
    call = Message("assistant", (ToolUse("1", "look", {}),))
    rows = [Message("user", (large,)), call, Message("user", (ToolResult("1", (large,)),))]
    sent = project(rows)
    assert [m.role for m in sent] == ["user", "assistant", "user"]
    assert isinstance(sent[0].blocks[0], Text)
    assert "too large" in sent[2].blocks[0].content[0].text  # type: ignore[union-attr]
    assert rows[0].blocks == (large,)
