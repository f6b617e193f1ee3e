"""Statements 137, 138, 149 to 158, 161, 177, 178: repair is made on a copy, always the same."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.conversation.projection import NO_OUTCOME, project
from harness.core.values.messages import (
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
from tests.agent.conversation.test_projection import _ROWS, problems
from tests.agent.replies import text, use
from tests.agent.stand import Stand
from tests.seeds.caught import caught

IMAGE = Opaque("image", {"type": "image", "source": {"type": "base64", "data": "AA=="}})
CALL = assistant(ToolUse("t1", "look", {"deep": {"er": [1]}}))
SEEN = results(ToolResult("t1", "seen"))


def sides(wire: list[Message]) -> str:
    """The roles of a request, a letter each."""
    return "".join(message.role[0] for message in wire)


@pytest.mark.seed(137)
@given(_ROWS)
def test_the_canonical_list_is_the_same_before_and_after_deep(rows: list[Message]) -> None:
    before, same = copy.deepcopy(rows), list(map(id, rows))
    project(rows)
    assert rows == before
    assert list(map(id, rows)) == same


@pytest.mark.seed(137, kind="mutant")
def test_a_repair_that_is_written_back_is_caught() -> None:
    caught("repairs_shared_rows")
    caught("positional_cursor")


@pytest.mark.seed(138, 149)
def test_the_count_of_repairs_stays_flat_and_every_request_alternates(tmp_path: Path) -> None:
    ran = Stand(tmp_path, [text("fine")], *"abcde")
    ran.store.seed("main", [user("x"), user("y"), assistant("z")])
    repairs: list[int] = []

    def counted(rows: Sequence[Message]) -> list[Message]:
        wire = project(rows)
        repairs.append(len(rows) - len(wire))
        return wire

    ran.run(projection=counted)
    assert repairs == [1] * 5
    for turn, request in enumerate(ran.provider.requests):
        assert "".join(m["role"][0] for m in request["messages"]) == "ua" * (turn + 1) + "u"


@pytest.mark.seed(149, kind="differs")
def test_a_stored_violation_is_not_healed_when_it_is_loaded(tmp_path: Path) -> None:
    """Differs: upstream rewrites the rows it loads. Here a row is never changed, and each request
    is repaired by itself: its beginning stays the same, which a prompt cache needs."""
    past = [user("x"), user("y"), assistant("z")]
    ran = Stand(tmp_path, [text("fine")], "a", "b")
    ran.store.seed("main", past)
    assert ran.run().rows()[:3] == past
    assert [row.message for row in ran.store.load("main")][:3] == past


@pytest.mark.seed(150, kind="mutant")
def test_a_picture_beside_a_text_is_joined_too() -> None:
    rows = [user("look"), Message("user", (IMAGE, Text("here")))]
    assert project(rows) == [Message("user", (Text("look"), IMAGE, Text("here")))]
    caught("merges_text_only")


@pytest.mark.seed(151)
@pytest.mark.parametrize("rows", [[user(""), user("b")], [user("b"), user(" \n")]])
def test_a_blank_side_adds_nothing(rows: list[Message]) -> None:
    assert project(rows) == [user("b")]


@pytest.mark.seed(152, kind="mutant")
def test_a_redirect_gets_a_stub_on_the_wire_and_nothing_is_rewound(tmp_path: Path) -> None:
    caught("no_stub_for_a_missing_result")
    past = [user("look"), CALL]
    ran = Stand(tmp_path, [text("well")], "no, stop")
    ran.store.seed("main", past)
    ran.run()
    [result, words] = ran.provider.requests[0]["messages"][-1]["content"]
    assert (result["tool_use_id"], result["content"]) == ("t1", NO_OUTCOME)
    assert result["is_error"]
    assert words["text"] == "no, stop"
    assert ran.rows() == [*past, user("no, stop"), assistant("well")]


@pytest.mark.seed(153, kind="mutant")
def test_a_late_result_is_not_sent() -> None:
    caught("sends_orphan_results")
    wire = project([user("look"), CALL, user("hello?"), assistant("yes"), SEEN, user("so?")])
    assert [r.text for message in wire for r in message.tool_results] == [NO_OUTCOME]
    assert sides(wire) == "uauau"


@pytest.mark.seed(153)
def test_a_result_behind_a_word_of_the_user_still_counts_in_his_turn() -> None:
    """No assistant spoke in between, so the result belongs to the same user message."""
    wire = project([user("look"), CALL, user("hello?"), SEEN])
    assert wire[-1] == Message("user", (*SEEN.blocks, Text("hello?")))


@pytest.mark.seed(154, kind="mutant")
def test_the_first_result_is_the_one_that_is_sent() -> None:
    caught("sends_duplicate_results")
    wire = project([user("look"), CALL, SEEN, results(ToolResult("t1", "other"))])
    assert wire[-1] == SEEN


@pytest.mark.seed(155, kind="mutant")
def test_adjacent_answers_are_one_message_with_all_their_calls() -> None:
    caught("two_assistants_in_a_row")
    wire = project([user("look"), assistant("wait"), CALL, SEEN])
    assert wire == [user("look"), Message("assistant", (Text("wait"), *CALL.blocks)), SEEN]


@pytest.mark.seed(156)
def test_an_answer_of_thinking_alone_is_dropped_and_the_users_joined(tmp_path: Path) -> None:
    past = [user("a"), assistant(Thinking("hm", "sig")), user("b"), assistant("c")]
    ran = Stand(tmp_path, [text("d")], "e")
    ran.store.seed("main", past)
    ran.run()
    first = ran.provider.requests[0]["messages"][0]
    assert [block["text"] for block in first["content"]] == ["a", "b"]
    assert ran.rows()[: len(past)] == past


@pytest.mark.seed(156)
def test_thinking_beside_words_stays_with_its_signature() -> None:
    said = assistant(Thinking("hm", "sig"), "yes")
    assert project([user("a"), said]) == [user("a"), said]


@pytest.mark.seed(157)
@given(_ROWS)
def test_a_second_pass_finds_nothing(rows: list[Message]) -> None:
    once = project(rows)
    assert project(once) == once


@pytest.mark.seed(158)
@given(_ROWS)
def test_a_request_is_valid_whatever_is_stored(rows: list[Message]) -> None:
    wire = project([*rows, user("now")])
    assert problems(wire) == []
    assert sides(wire)[:1] == sides(wire)[-1:] == "u"
    assert "uu" not in sides(wire)
    assert "aa" not in sides(wire)


@pytest.mark.seed(158)
def test_a_history_that_begins_with_the_assistant_begins_with_the_user() -> None:
    wire = project([assistant("summary"), user("so?"), assistant("yes"), user("good")])
    assert wire == [user("so?"), assistant("yes"), user("good")]


@pytest.mark.seed(161, kind="mutant")
def test_repair_that_is_another_each_turn_is_caught() -> None:
    caught("prefix_changes")


@pytest.mark.seed(161)
@given(_ROWS, st.lists(st.sampled_from(["hi", "yes"]), min_size=1, max_size=3))
def test_later_turns_begin_with_what_earlier_ones_sent(
    rows: list[Message], said: list[str]
) -> None:
    rows = [*rows, user("now")]
    before = project(rows)
    for words in said:
        rows += [assistant(words), user(words)]
        after = project(rows)
        assert after[: len(before)] == before
        before = after


@pytest.mark.seed(177, kind="differs")
def test_a_damaged_session_needs_the_same_repair_in_each_turn_and_no_more(tmp_path: Path) -> None:
    """Differs: upstream says here that one turn heals a session. Statement 149 says that the count
    stays flat, and that holds here: a row is never changed, so each request repairs the same place
    in the same way, and no turn adds a place."""
    past = [user("x"), user("y"), CALL, assistant("z"), SEEN]
    ran = Stand(tmp_path, [text("fine"), text("good"), text("well")], "a", "b", "c")
    ran.store.seed("main", past)
    ran.run()
    assert ran.rows()[: len(past)] == past
    sent = [project(ran.rows()[: len(past) + 2 * n + 1]) for n in range(3)]
    prefix = len(sent[0])
    assert all(wire[:prefix] == sent[0] for wire in sent)
    assert [len(wire) - prefix for wire in sent] == [0, 2, 4]
    assert not any(problems(wire) for wire in sent)


@pytest.mark.seed(178, kind="mutant")
def test_the_whole_loop_repairs_a_copy_and_never_the_transcript(tmp_path: Path) -> None:
    """A wrong caller is caught through the loop: rows and requests of later turns are as before."""
    past = [user("x"), user("y"), CALL]
    ran = Stand(tmp_path, [use("look", id="t2"), text("fine"), text("good")], "a", "b")
    ran.store.seed("main", past)
    ran.tool("look", "seen")
    ran.run()
    assert ran.rows()[: len(past)] == past
    first, second, third = (request["messages"] for request in ran.provider.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    caught("repairs_shared_rows")
