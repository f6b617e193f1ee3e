"""Statements 16 to 25 and 33 to 37: AutoGPT's counter of empty tool calls in the stream.

It counts assistant messages in a row with an empty call. Ours, `EmptyInputGuard`, counts by tool:
only a complete call of the same tool clears the count. Harmless calls between do not hide the
loop, and a message with a successful call does not count.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agent.guards import EmptyInputGuard, Proceed, Refuse, Watch, standard_guards
from harness.agent.guards.guard_protocol import cut_off, needed_by
from harness.core.values.messages import Json, ToolSpec, ToolUse
from tests.agent.replies import text, use
from tests.agent.stand import Stand
from tests.seeds.caught import caught
from tests.seeds.guarding import Step, decide, one_by_one, passes, words

WRITE = ToolSpec("write", input_schema={"type": "object", "required": ["path", "content"]})
GUIDE = ToolSpec("get_guide", input_schema={"type": "object", "properties": {}})
LIST = ToolSpec("list", input_schema={"type": "object", "properties": {"of": {}}})
EMPTY: Step = ("write", {}, "")
WHOLE: Step = ("write", {"path": "a", "content": "b"}, "written")
LOOK: Step = ("get_guide", {}, "page")


def guard(limit: int = 3) -> EmptyInputGuard:
    """The guard over a tool that needs arguments and two that do not."""
    return EmptyInputGuard(needed_by((WRITE, GUIDE, LIST)), limit)


@pytest.mark.seed(16)
@pytest.mark.parametrize("messages", [6, 3, 5])
def test_the_turn_ends_with_exactly_that_many_messages(messages: int) -> None:
    """The limit counts refusals here; the message after them is the one that ends the turn."""
    said = one_by_one(guard(limit=messages - 1), [EMPTY] * messages)
    assert said == ["Refuse"] * (messages - 1) + ["EndTurn"]


@pytest.mark.seed(17)
def test_a_message_of_text_alone_ends_the_turn_and_with_it_the_count(tmp_path: Path) -> None:
    turn = [*[use("write", {})] * 3, text("I will think about it.")]
    stand = Stand(tmp_path, turn * 2, "write it", "now write it")
    stand.tool("write", "written", required=["path"])
    stand.run()
    assert [said["status"] for said in stand.said] == ["ok", "ok"]


@pytest.mark.seed(18)
def test_results_and_messages_of_others_leave_the_count_alone() -> None:
    """Guards learn only of calls and their results: a result of another tool changes nothing."""
    counting = guard()
    one_by_one(counting, [EMPTY] * 3)
    counting.begin_step()
    assert words(counting, LOOK) == ["Proceed"]
    assert words(counting, EMPTY) == ["EndTurn"]


@pytest.mark.seed(19, kind="mutant")
def test_null_and_nothing_are_empty_and_a_key_without_a_value_is_not() -> None:
    empties: list[Json] = [{}, None, ""]
    for nothing in empties:
        assert words(guard(), ("write", nothing, "")) == ["Refuse"]
    for something in ({"a": ""}, {"a": None}):
        assert words(guard(), ("write", something, "ok")) == ["Proceed"]
    caught("null_input_is_not_empty")


@pytest.mark.seed(20, kind="mutant")
def test_a_good_call_in_the_message_clears_the_count() -> None:
    counting = guard()
    for _ in range(10):
        assert words(counting, EMPTY, WHOLE) == ["Refuse", "Proceed"]
        assert words(counting, WHOLE, EMPTY) == ["Proceed", "Refuse"]
    caught("breaker_counts_messages")


@pytest.mark.seed(21)
def test_three_empty_calls_of_one_message_count_once() -> None:
    counting = guard()
    for _ in range(3):
        assert words(counting, *[EMPTY] * 3) == ["Refuse"] * 3
    assert words(counting, EMPTY) == ["EndTurn"]


@pytest.mark.seed(22, kind="mutant")
def test_a_tool_without_parameters_is_called_with_nothing() -> None:
    assert one_by_one(guard(), [LOOK] * 10) == ["Proceed"] * 10
    caught("breaker_counts_no_argument_tools")


@pytest.mark.seed(22, kind="differs")
def test_a_call_of_such_a_tool_clears_no_count_of_another() -> None:
    """Differs: upstream sets the counter to zero, and that hides the loop of statement 25."""
    assert one_by_one(guard(), [*[EMPTY] * 3, LOOK, EMPTY])[-2:] == ["Proceed", "EndTurn"]


@pytest.mark.seed(23, kind="mutant")
def test_bare_and_prefixed_names_are_one_tool() -> None:
    prefixed: Step = ("mcp__copilot__get_guide", {}, "page")
    assert one_by_one(guard(), [prefixed] * 10) == ["Proceed"] * 10
    assert one_by_one(guard(), [EMPTY, ("mcp__copilot__write", {}, "")] * 2)[-1] == "EndTurn"
    specs = (ToolSpec("mcp__copilot__write", input_schema=WRITE.input_schema),)
    assert words(EmptyInputGuard(needed_by(specs)), EMPTY) == ["Refuse"]
    caught("prefixed_names_are_not_exempt")


@pytest.mark.seed(24, kind="mutant")
def test_a_tool_with_optional_parameters_alone_is_called_with_nothing() -> None:
    """Upstream's layers disagree about it; here one guard decides by what the schema requires, and
    the repetition guard looks at what comes back."""
    assert one_by_one(guard(), [("list", {}, "all")] * 10) == ["Proceed"] * 10
    watch = Watch(standard_guards((WRITE, GUIDE, LIST)))
    news: list[Step] = [("list", {}, f"page {n}") for n in range(10)]
    assert one_by_one(watch, news) == ["Proceed"] * 10
    assert one_by_one(watch, [("list", {}, "all")] * 5)[-1] == "EndTurn"
    caught("optional_arguments_are_missed")


@pytest.mark.seed(25, kind="mutant")
def test_a_harmless_call_between_empty_ones_hides_nothing() -> None:
    assert one_by_one(guard(), [EMPTY, LOOK] * 4)[-2] == "EndTurn"
    caught("breaker_cleared_by_harmless_call")


@pytest.mark.seed(33, kind="differs")
def test_an_empty_call_is_guided_then_told_to_stop_and_then_the_turn_ends() -> None:
    """Differs: STOP comes with the third call, upstream's with the fourth. The next call ends the
    turn here, which upstream leaves to its second layer."""
    counting = guard()
    texts = [decide(counting, EMPTY)[0] for _ in range(4)]
    first, second, third, fourth = (d.text for d in texts if not isinstance(d, Proceed))
    for guidance in (first, second):
        assert "path, content" in guidance
        assert "smaller pieces" in guidance
    assert third.startswith("STOP")
    assert "write" in fourth


@pytest.mark.seed(34, kind="mutant")
def test_an_empty_call_is_counted_before_anything_validates_it(tmp_path: Path) -> None:
    """A schema that is checked in front of the handler hides the call from a counter inside it.
    The guard is asked first, and the schema that the model sees keeps its `required`."""
    stand = Stand(tmp_path, [use("write", {})], "write it")
    stand.tool("write", "written", required=["path"])
    stand.run()
    assert stand.calls == []
    assert stand.provider.requests[0]["tools"][0]["input_schema"]["required"] == ["path"]
    assert len(stand.provider.requests) == 5
    caught("validation_hides_calls")


@pytest.mark.seed(35, kind="mutant")
@pytest.mark.parametrize("name", ["write", "list", "get_guide"])
def test_arguments_that_were_cut_are_no_arguments(name: str) -> None:
    cut: Json = {"__unparsedToolInput": '{"path": "/a", "content": "All fi'}
    assert one_by_one(guard(), [(name, cut, "")] * 4) == ["Refuse"] * 3 + ["EndTurn"]


@pytest.mark.seed(35, kind="mutant")
def test_a_breaker_that_misses_the_wrapper_is_caught() -> None:
    caught("unparsed_input_is_not_empty")


@pytest.mark.seed(36)
def test_guidance_and_then_a_right_call_set_all_counters_to_zero() -> None:
    watch = Watch(standard_guards((WRITE,)))
    for n in range(4):
        assert one_by_one(watch, [EMPTY] * 2) == ["Refuse"] * 2
        assert words(watch, ("write", {"path": "a", "content": str(n)}, f"{n} written")) == [
            "Proceed"
        ]
    passes("empty-inputs/recovers")


@pytest.mark.seed(37, kind="mutant")
def test_a_call_of_a_reply_that_was_cut_is_not_run(tmp_path: Path) -> None:
    caught("runs_truncated_calls")
    cut = cut_off(ToolUse("t", "write", {"path": "a", "content": "all of it?"}))
    assert isinstance(guard().before(cut), Refuse)


@pytest.mark.seed(37)
def test_cut_replies_with_whole_ones_between_do_not_end_the_turn(tmp_path: Path) -> None:
    def chunk(n: int, stop: str) -> Any:
        return use("write", {"path": f"part {n}"}, stop=stop)

    turn = [chunk(n, stop) for n in range(6) for stop in ("max_tokens", "tool_use")]
    stand = Stand(tmp_path, [*turn, text("all parts are written")], "write it")
    stand.tool("write", lambda given: f"{given['path']} is written", required=["path"])
    stand.run()
    assert len(stand.calls) == 6
    assert stand.ending == ("final", "ok", "all parts are written")
