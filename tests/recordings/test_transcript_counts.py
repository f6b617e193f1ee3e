"""Counts: the definitions, one by one, and the traps of real recordings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import (
    Message,
    Opaque,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.recordings.transcript_counts import counts
from harness.recordings.transcripts import Transcript


def _counts(*messages: Message, **more: Any) -> dict[str, Any]:
    return counts(Transcript(name="t", messages=messages, **more))


def _use(id_: str, name: str = "f", value: Any = None) -> ToolUse:
    return ToolUse(id_, name, {"x": 1} if value is None else value)


def _tool(id_: str, text: str = "ok", error: bool = False) -> Message:
    return Message("tool", (ToolResult(id_, text, error),))


def test_the_order_of_the_counts_is_that_of_their_definitions() -> None:
    assert list(_counts()) == [
        "messages",
        "tool_calls",
        "server_tool_calls",
        "tool_results",
        "orphan_results",
        "duplicate_results",
        "unanswered_calls",
        "pending_calls",
        "late_results",
        "alternation",
        "same_call_runs",
        "same_fail_runs",
        "same_fail_runs_explicit",
        "cycle2_runs",
        "same_text_runs",
        "empty_input_calls",
        "empty_input_required",
    ]


def test_system_and_developer_messages_are_not_counted() -> None:
    system, developer = Message("system", (Text("s"),)), Message("developer", (Text("d"),))
    found = _counts(system, user("a"), developer, assistant("b"))
    assert (found["messages"], found["alternation"]) == (2, 0)
    assert _counts(user("a"), system, user("b"))["alternation"] == 1


@pytest.mark.parametrize(
    ("messages", "violations"),
    [
        ((), 0),
        ((user("a"), assistant("b"), user("c")), 0),
        ((user("a"), user("b"), user("c")), 2),
        ((assistant("a"), assistant("b")), 2),
        ((_tool("a"), _tool("b"), user("c")), 1),
        ((user("a"), assistant(_use("1"), _use("2")), _tool("1"), _tool("2"), user("b")), 0),
        ((user("a"), results(ToolResult("1"))), 1),
    ],
)
def test_alternation(messages: tuple[Message, ...], violations: int) -> None:
    assert _counts(*messages)["alternation"] == violations


def test_pending_and_unanswered_calls() -> None:
    found = _counts(user("a"), assistant(_use("1")), user("b"), assistant(_use("2"), _use("3")))
    assert (found["unanswered_calls"], found["pending_calls"]) == (1, 2)


def test_orphans_duplicates_and_late_results() -> None:
    found = _counts(
        user("a"),
        assistant(_use("1"), _use("2")),
        results(ToolResult("1"), ToolResult("9")),
        assistant("b"),
        results(ToolResult("2"), ToolResult("1")),
    )
    assert (found["orphan_results"], found["duplicate_results"], found["late_results"]) == (1, 1, 2)
    assert (found["tool_results"], found["unanswered_calls"]) == (4, 0)


def test_a_result_before_its_call_is_an_orphan() -> None:
    found = _counts(user("a"), results(ToolResult("1")), assistant(_use("1")))
    assert (found["orphan_results"], found["pending_calls"]) == (1, 1)


def test_a_turn_may_have_several_messages_of_one_side() -> None:
    found = _counts(user("a"), assistant(_use("1")), assistant("b"), user("c"), _tool("1"))
    assert found["late_results"] == 0


def test_a_stateful_request_has_no_orphans() -> None:
    assert _counts(_tool("server"), user("a"), stateful=True)["orphan_results"] == 0
    assert _counts(_tool("server"), user("a"))["orphan_results"] == 1


def test_results_without_ids_answer_the_oldest_open_call() -> None:
    found = _counts(
        user("a"),
        assistant(_use("", "f"), _use("", "g")),
        results(ToolResult(""), ToolResult("")),
        assistant("b"),
        results(ToolResult("")),
    )
    assert (found["orphan_results"], found["unanswered_calls"], found["late_results"]) == (1, 0, 0)


def test_an_id_that_is_issued_again_opens_a_call() -> None:
    found = _counts(
        user("a"),
        assistant(_use("1")),
        results(ToolResult("1")),
        assistant(_use("1")),
        results(ToolResult("1")),
    )
    assert (found["duplicate_results"], found["unanswered_calls"], found["late_results"]) == (
        1,
        0,
        0,
    )


def test_server_calls_are_apart() -> None:
    server = Opaque("server_tool_use", {"id": "s", "name": "web_search"})
    found = _counts(user("a"), assistant(server), user("b"))
    assert (found["server_tool_calls"], found["tool_calls"]) == (1, 0)
    assert found["unanswered_calls"] == 0


def _calls(*names: str, value: Any = None) -> list[Message]:
    made: list[Message] = [user("go")]
    for n, name in enumerate(names):
        made += [assistant(_use(str(n), name, value)), results(ToolResult(str(n), "ok"))]
    return made


def test_runs_of_calls_and_cycles() -> None:
    assert _counts(*_calls("a", "b", "b", "b", "a"))["same_call_runs"] == [["b", 3, 1]]
    assert _counts(*_calls("a", "a"))["same_call_runs"] == []
    assert _counts(*_calls(*"xababab"))["cycle2_runs"] == [["a, b", 6, 1]]
    assert _counts(*_calls(*"ababa"))["cycle2_runs"] == []
    assert _counts(*_calls(*"aaaaaa"))["cycle2_runs"] == []


def test_arguments_are_compared_as_canonical_json() -> None:
    uses = [_use(str(n), "f", v) for n, v in enumerate([{"a": 1, "b": 2}, {"b": 2, "a": 1}] * 2)]
    assert _counts(user("go"), assistant(*uses))["same_call_runs"] == [["f", 4, 0]]


def test_a_run_of_failures_by_the_flag_and_by_the_word() -> None:
    uses = [_use(str(n), "f", {"n": n}) for n in range(3)]
    flagged = results(*(ToolResult(str(n), "no", True) for n in range(3)))
    said = results(*(ToolResult(str(n), "Error: no") for n in range(3)))
    fine = results(*(ToolResult(str(n), "fine") for n in range(3)))
    found = _counts(user("go"), assistant(*uses), flagged)
    assert found["same_fail_runs_explicit"] == found["same_fail_runs"] == [["f", 3, 0]]
    found = _counts(user("go"), assistant(*uses), said)
    assert (found["same_fail_runs_explicit"], found["same_fail_runs"]) == ([], [["f", 3, 0]])
    assert _counts(user("go"), assistant(*uses), fine)["same_fail_runs"] == []


def test_failing_edits_with_different_arguments_are_a_run_of_results_alone() -> None:
    made: list[Message] = [user("go")]
    for n in range(4):
        made += [assistant(_use(str(n), "edit", {"n": n})), _tool(str(n), "no match", True)]
    found = _counts(*made)
    assert (found["same_call_runs"], found["same_fail_runs_explicit"]) == ([], [["edit", 4, 0]])


def test_runs_of_texts_ignore_ids_and_blank_texts() -> None:
    same = [assistant("so", _use(str(n))) for n in range(3)]
    blank = [assistant(" ", _use(str(n))) for n in range(3)]
    other = [assistant("so", _use(str(n), value={"n": n})) for n in range(3)]
    between = user("and?")
    spread = [message for one in same for message in (one, between)]
    assert _counts(user("a"), *spread)["same_text_runs"] == [["so", 3, 0]]
    assert _counts(user("a"), *blank)["same_text_runs"] == []
    assert _counts(user("a"), *other)["same_text_runs"] == []


@pytest.mark.parametrize(
    ("value", "empty"),
    [({}, 1), ("", 1), (None, 1), ({"a": None}, 0), ("{", 0), ([], 0), (0, 0), (False, 0)],
)
def test_empty_inputs(value: Any, empty: int) -> None:
    tools = (ToolSpec("f", "", {"required": ["a"]}), ToolSpec("g", "", {"required": []}))
    calls = assistant(ToolUse("1", "f", value), ToolUse("2", "g", value), ToolUse("3", "h", value))
    found = _counts(user("a"), calls, tools=tools)
    assert (found["empty_input_calls"], found["empty_input_required"]) == (3 * empty, empty)


_BLOCKS = st.one_of(
    st.builds(Text, st.text(max_size=2)),
    st.builds(ToolUse, st.sampled_from(["", "1", "2"]), st.sampled_from("fg")),
    st.builds(ToolResult, st.sampled_from(["", "1", "2", "3"])),
)
_MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["user", "assistant", "tool", "system"]),
        st.lists(_BLOCKS, max_size=3).map(tuple),
    ),
    max_size=8,
)


@given(_MESSAGES)
def test_every_call_and_result_is_counted_once(messages: list[Message]) -> None:
    found = _counts(*messages)
    open_calls = found["unanswered_calls"] + found["pending_calls"]
    answers = found["tool_results"] - found["orphan_results"]
    assert 0 <= open_calls <= found["tool_calls"]
    assert found["tool_calls"] - open_calls <= answers
    assert found["late_results"] + found["orphan_results"] <= found["tool_results"]


def test_where_nobody_says_who_spoke_roles_are_not_counted() -> None:
    messages = (assistant(ToolUse("1", "f", {})), results(ToolResult("1", "ok")))
    found = counts(Transcript(name="t", messages=messages, roles=False))
    assert (found["messages"], found["alternation"]) == (0, 0)
    assert (found["tool_calls"], found["tool_results"], found["pending_calls"]) == (1, 1, 0)
