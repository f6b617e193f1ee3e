"""tool_pairing and unique_tool_ids: what one provider lets pass."""

from __future__ import annotations

from harness.checks.tool_ids import tool_pairing, unique_tool_ids
from harness.core.history.history import History
from harness.core.values.messages import Message, ToolResult, assistant, results, user
from tests.checks.histories import Story, codes, use

ASK = user("go")
CALL = assistant(use("list", id="a"))
OTHER = assistant(use("list", id="b"))


def result(*ids: str) -> Message:
    """A message with these results."""
    return results(*(ToolResult(id_, "ok") for id_ in ids))


def pairs(*lists: list[Message], **called: object) -> list[str]:
    """What is found in requests of these messages."""
    return codes(tool_pairing(_asked(lists, called)))


def ids(*lists: list[Message], **called: object) -> list[str]:
    """What is found in requests of these messages."""
    return codes(unique_tool_ids(_asked(lists, called)))


def _asked(lists: tuple[list[Message], ...], called: dict[str, object]) -> History:
    story = Story().turn("go")
    for messages in lists:
        story.reply("x", messages=messages, **called)  # type: ignore[arg-type]
    return story.end()


def test_a_call_without_its_result_is_found_where_the_assistant_speaks_again() -> None:
    assert pairs([ASK, CALL, user("never mind"), OTHER, result("b")]) == ["tool_pairing.unanswered"]


def test_a_call_without_its_result_is_found_at_the_end_once() -> None:
    open_call = [ASK, CALL, user("never mind")]
    assert pairs(open_call, [*open_call, user("well")]) == ["tool_pairing.unanswered"]


def test_a_result_without_its_call_is_found() -> None:
    assert pairs([ASK, result("a"), assistant("hm"), user("well")]) == ["tool_pairing.orphan"]
    assert pairs([ASK, CALL, result("a"), OTHER, result("b", "a")]) == ["tool_pairing.orphan"]


def test_results_may_come_in_any_order_and_in_pieces() -> None:
    both = assistant(use("list", id="a"), use("list", id="b"))
    assert pairs([ASK, both, result("b", "a")]) == []
    assert pairs([ASK, both, result("b"), Message("system"), result("a")]) == []


def test_neighbouring_messages_of_the_assistant_are_one_turn() -> None:
    assert pairs([ASK, CALL, OTHER, result("a", "b")]) == []


def test_a_prefilled_call_waits_for_its_result() -> None:
    assert pairs([ASK, CALL]) == []


def test_what_was_refused_before_is_looked_at_when_it_is_accepted() -> None:
    story = Story().turn("go")
    story.fail(400, "V23", refused=("V23",), messages=[ASK, CALL, result("a"), user("more")])
    story.reply("x", messages=[ASK, CALL, result("a"), user("less")])
    assert codes(tool_pairing(story.end())) == []


def test_what_the_dialect_refuses_is_left_to_it() -> None:
    assert pairs([ASK, result("a")], refused=("V5",)) == []


def test_an_id_is_never_empty() -> None:
    assert ids([ASK, Message("assistant", (use("list"),)), user("?")]) == ["unique_tool_ids.empty"]


def test_an_id_names_one_call_and_one_result() -> None:
    twice = [ASK, CALL, result("a"), CALL, result("a")]
    assert ids(twice) == ["unique_tool_ids.repeated"]
    found = ids([*twice, result("a")])
    assert found == ["unique_tool_ids.repeated", "unique_tool_ids.two_results"]
    assert ids([ASK, CALL, result("a", "a")]) == ["unique_tool_ids.two_results"]


def test_the_history_in_each_request_is_no_repetition() -> None:
    first = [ASK, CALL, result("a")]
    assert ids(first, [*first, OTHER, result("b")], [*first, OTHER, result("b"), user("?")]) == []


def test_a_call_that_is_said_again_on_another_way_is_no_repetition() -> None:
    start = [ASK, CALL, result("a")]
    shorter = [user("so far: a"), CALL, result("a")]
    assert ids([*start, user("1")], shorter, [*shorter, OTHER, result("b")], start) == []


def test_what_stands_there_twice_is_told_once() -> None:
    twice = [ASK, CALL, result("a"), CALL]
    found = ids([*twice, user("1")], [ASK], [*twice, user("2")])
    assert found == ["unique_tool_ids.repeated"]
