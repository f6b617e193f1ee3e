"""Tools that run with what the model said, and with what it did not.

Calls that are carried out once, and calls that are carried out again.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.false_stops import no_false_stop
from harness.checks.tool_execution import args_complete, effect_once
from harness.core.values.calls import ToolRequest
from harness.core.values.messages import Text, ToolResult, ToolUse
from tests.checks.histories import Story, codes, use


def _run(
    block: Any, *, input: Any = None, error: bool = False, world: str = "", **reply: Any
) -> Any:
    story = Story(world=world or "simulate").turn("go").reply(block, **reply)
    asked = story.called
    story.tool("x", input=input, error=error)
    ran = story.called
    return list(args_complete(story.reply("done").final().end())), (asked, ran)


def test_a_whole_call_is_run() -> None:
    assert _run(use("write", {"path": "a"}))[0] == []


NEEDS = {"type": "object", "properties": {"path": {}, "mode": {}}, "required": ["path"]}


@pytest.mark.parametrize(
    ("offered", "found"),
    [
        ({"properties": {"path": {}}}, ["args_complete.optional"]),
        (
            {"properties": {"path": {}, "mode": {}}, "required": ["mode"]},
            ["args_complete.optional"],
        ),
        (NEEDS, []),
        ({"properties": {"path": {}, "mode": {}}, "required": ["path", "mode"]}, []),
        ({"properties": {"path": {"default": "."}}}, []),
        ({"properties": {"mode": {}}}, []),
        ({"properties": {"path": True}}, ["args_complete.optional"]),
        ({"properties": {"path": {}}, "required": True}, []),
        ({"properties": {"path": {}}, "allOf": [{"required": ["path"]}]}, []),
        ({}, []),
    ],
)
def test_an_offer_says_what_the_tool_requires(offered: dict[str, Any], found: list[str]) -> None:
    story = Story(settings={"tools": {"write": NEEDS}}).turn("go")
    tool = {"name": "write", "description": "", "input_schema": offered}
    request = {"tools": story.history.value([tool])}
    story.reply(use("write", {"path": "a"}), request=request).tool("ok")
    story.reply("done", request=request)
    assert codes(args_complete(story.final().end())) == found


def test_a_call_of_an_answer_that_was_cut_is_not_run() -> None:
    found, events = _run(use("write", {"path": "a"}), complete=False)
    assert codes(found) == ["args_complete.incomplete"]
    assert found[0].events == events


@pytest.mark.parametrize("stop", ["max_tokens", "length", None, "refusal"])
def test_a_call_of_a_truncated_answer_is_not_run(stop: str | None) -> None:
    found, events = _run(use("write", {"path": "a"}), stop=stop, request={"stream": True})
    assert codes(found) == ["args_complete.truncated"]
    assert found[0].events == events


def test_a_call_of_a_whole_body_without_a_stop_reason_is_run() -> None:
    """Clones of Chat leave it out; what came in one body has come whole."""
    assert _run(use("write", {"path": "a"}), stop=None)[0] == []


def test_a_call_is_run_with_the_input_that_was_said() -> None:
    found, events = _run(use("write", {"path": "a"}), input={"path": "b"})
    assert codes(found) == ["args_complete.changed"]
    assert found[0].events == events
    assert found[0].message.endswith('another input than the model gave: path ("b", not "a")')
    long, _ = _run(use("write", {"path": "a" * 90 + "12.5"}), input={"path": "a" * 90 + "12"})
    assert long[0].message.endswith('path (…aaaaaaaa12", not …aaaaaaaa12.5")')
    empty, _ = _run(use("write", {"path": "a"}), input={})
    assert "an empty input in place of the one" in empty[0].message


def test_an_input_that_a_client_puts_to_another_block_is_said() -> None:
    """Anthropic's SDK counts a block that began twice as two."""
    for path, found in (("a", []), ("b", ["args_complete.changed"])):
        story = Story().turn("go").reply(Text("", {"input": {"path": "a"}}), use("write", {}))
        story.tool("x", input={"path": path}).reply("done").final()
        assert codes(args_complete(story.end())) == found


def test_a_call_that_began_twice_may_be_read_as_one() -> None:
    begun = use("list", {}, id="t1"), use("list", {"path": "a"}, id="t1")
    for path, found in (("a", []), ("b", ["args_complete.changed"])):
        story = Story().turn("go").reply(*begun, use("write", {}, id="t2"))
        story.tool("x").tool("x").tool("x", input={"path": path})
        assert codes(args_complete(story.reply("done").final().end())) == found


def test_an_input_that_does_not_parse_is_not_repaired() -> None:
    block = type(use("write"))("", "write", '{"path": "a')
    assert codes(_run(block, input={"path": "a"})[0]) == ["args_complete.changed"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_no_json_runs_as_a_client_reads_it(number: str) -> None:
    block = type(use("write"))("", "write", f'{{"path": "a", "ratio": {number}}}')
    assert _run(block, input={"path": "a", "ratio": float(number)})[0] == []
    assert codes(_run(block, input={"path": "a", "ratio": 0})[0]) == ["args_complete.changed"]


def test_an_answer_whose_end_came_out_of_order_is_no_cut_one() -> None:
    came = {"complete": False, "outcome": "error", "said_all": True}
    block = use("write", {"path": "a"})
    assert _run(block, **came)[0] == []
    assert codes(_run(block, **came, stop="max_tokens")[0]) == ["args_complete.truncated"]
    assert codes(_run(block, **{**came, "said_all": False})[0]) == ["args_complete.incomplete"]


def test_a_call_that_runs_under_the_id_of_its_item_is_that_call() -> None:
    story = Story().turn("go").reply(use("write", {"path": "a"}, id="call_1"), stop="max_tokens")
    story._asked = [use("write", {"path": "a"}, id="fc_1")]
    story.tool()._results = [ToolResult("call_1", "ok")]
    history = story.reply("done").final().end()
    assert codes(args_complete(history)) == ["args_complete.truncated"]
    assert list(no_false_stop(history)) == []


def test_the_order_of_keys_does_not_matter() -> None:
    said = use("write", {"path": "a", "mode": 1})
    assert _run(said, input={"mode": 1, "path": "a"})[0] == []


@pytest.mark.parametrize("empty", [None, "", {}])
def test_an_empty_input_for_a_tool_that_requires_one_is_not_run(empty: Any) -> None:
    block = type(use("write"))("", "write", empty)
    assert codes(_run(block, input={})[0]) == ["args_complete.empty_input"]


@pytest.mark.parametrize("name", ["list", "poll"])
def test_an_empty_input_for_a_tool_that_requires_none_is_run(name: str) -> None:
    assert _run(use(name))[0] == []


def test_a_call_that_is_refused_breaks_nothing() -> None:
    story = Story().turn("go").reply(use("write"), stop="max_tokens").refuse().reply("x").final()
    assert not list(args_complete(story.end()))


def test_the_retry_of_a_cut_answer_is_run() -> None:
    story = Story().turn("go").reply(use("list", id="t"), complete=False)
    story.reply(use("list", id="t"), messages=story.live[:1]).tool()
    assert not list(args_complete(story.end()))


def test_in_a_recording_a_failed_call_may_never_have_run() -> None:
    assert _run(use("write"), error=True, world="recording")[0] == []
    assert codes(_run(use("write"), world="recording")[0]) == ["args_complete.empty_input"]


def test_a_recording_need_not_say_why_an_answer_stopped() -> None:
    assert _run(use("list"), stop=None, world="recording")[0] == []


ADD = use("write", {"path": "a"}, id="t")


def _effect(story: Story, key: str = "") -> Story:
    """The tool that ran last has changed the world."""
    ran = story.history.trace.executions[-1].called.key
    story.history.effect(
        at_ms=0, session="main", turn=1, key=ran, name="booked", idempotency_key=key
    )
    return story


def _again(story: Story, *, error: bool = False) -> Story:
    """The call that ran last is run again."""
    story._asked.insert(0, ADD)
    return story.tool("x", error=error)


def _ran(*, error: bool = False) -> Story:
    return Story().turn("go").reply(ADD).tool("x", error=error)


def test_one_run_of_each_call_is_fine() -> None:
    story = _effect(_ran()).reply(use("write", {"path": "a"}, id="u"))
    assert not list(effect_once(_effect(story.tool()).reply("done").final().end()))


def test_a_call_that_was_run_is_not_run_again() -> None:
    story = _ran()
    first = story.called
    _again(story)
    (finding,) = effect_once(story.end())
    assert (finding.code, finding.events) == ("effect_once.again", (first, story.called))


def test_an_effect_of_one_call_happens_once() -> None:
    story = _effect(_ran())
    first = story.last
    second = _effect(_again(story)).last
    found = list(effect_once(story.end()))
    assert codes(found) == ["effect_once.again", "effect_once.effect"]
    assert found[1].events == (first, second)


def test_a_call_that_failed_without_an_effect_may_be_tried_again() -> None:
    assert not list(effect_once(_again(_ran(error=True)).end()))


def test_a_failure_does_not_undo_an_effect() -> None:
    story = _effect(_again(_effect(_ran(error=True))))
    assert codes(effect_once(story.end())) == ["effect_once.effect"]


def test_an_idempotency_key_makes_two_runs_one_effect() -> None:
    story = _effect(_again(_effect(_ran(error=True), "k")), "k")
    assert not list(effect_once(story.end()))


def _both(*calls: ToolUse) -> list[str]:
    """An answer whose calls are all run."""
    story = Story().turn("go").reply(*calls)
    for _ in calls:
        story.tool("x")
    return codes(effect_once(story.reply("done").final().end()))


def test_a_call_that_stands_twice_in_an_answer_is_one_call() -> None:
    assert _both(ADD, ADD) == ["effect_once.again"]


def test_calls_of_one_id_are_two_if_they_differ_or_the_id_tells_nothing() -> None:
    assert _both(ADD, use("write", {"path": "b"}, id="t")) == []
    named = use("write", {"path": "a"}, id="write")
    assert _both(named, named) == []


def test_an_id_that_a_later_answer_uses_again_is_another_call() -> None:
    story = _effect(_ran()).reply(ADD)
    assert not list(effect_once(_effect(story.tool()).end()))


def test_a_run_that_nobody_asked_for_is_not_judged_here() -> None:
    story = Story().turn("go")
    for index in ("1", "2"):
        request = ToolRequest("x", "write", {})
        where = {"at_ms": 0, "session": "main", "turn": 1, "key": f"main/tool#{index}"}
        story.history.called(**where, seam="tool", request=request)
        story.history.answered(**where, seam="tool", value={"content": "ok"})
    assert not list(effect_once(story.end()))


def test_a_recording_is_left_alone() -> None:
    story = Story(world="recording").turn("go").reply(ADD).tool()
    assert not list(effect_once(_again(story).end()))


@pytest.mark.parametrize("ran", ["ab", "a?b", "a\ufffdb"])
def test_half_a_character_may_be_cleaned(ran: str) -> None:
    assert _run(use("write", {"path": "a\ud83db"}), input={"path": ran})[0] == []


def test_a_value_may_be_converted_as_the_schema_says() -> None:
    assert _run(use("write", {"path": 5}), input={"path": "5"})[0] == []
    found = _run(use("write", {"path": "5"}), input={"path": 5})[0]
    assert codes(found) == ["args_complete.changed"]


def test_nothing_may_stand_for_a_missing_value_that_is_not_required() -> None:
    assert _run(use("list", {}), input={"path": None})[0] == []
    found = _run(use("list", {}), input={"path": "a"})[0]
    assert codes(found) == ["args_complete.changed"]


@pytest.mark.parametrize(
    ("asked", "ran", "rules"),
    [
        ("write_files", "write", ["args_complete.other_tool"]),
        ("list", "write", ["args_complete.other_tool"]),
        ("WRITE", "write", []),
        ("functions.write", "write", []),
        ("mcp__disk__write", "write", []),
    ],
)
def test_a_call_runs_the_tool_that_it_names(asked: str, ran: str, rules: list[str]) -> None:
    assert _ran_as(asked, ran) == rules


def test_a_name_that_a_tool_has_is_not_repaired() -> None:
    assert _ran_as("write_all", "write.all", {"write_all": {}}) == ["args_complete.other_tool"]
    assert _ran_as("write_all", "write.all", {"write.all": {}}) == []


def _ran_as(asked: str, ran: str, tools: dict[str, Any] | None = None) -> list[str]:
    story = Story(settings={"tools": tools or {}}).turn("go")
    story.reply(use(asked, {"path": "a"}, "t1"))
    where = {"at_ms": 0, "session": "main", "turn": 1, "key": "main/tool#1"}
    request = ToolRequest("t1", ran, {"path": "a"})
    story.history.called(**where, seam="tool", request=request)
    story.history.answered(**where, seam="tool", value={"content": "ok"})
    return codes(args_complete(story.end()))


@pytest.mark.parametrize(
    ("given", "ran", "expected"),
    [
        (["a"], ["a"], ["args_complete.no_object"]),
        ('{"path": "a"}', '{"path": "a"}', ["args_complete.no_object"]),
        ({"path": "a"}, {"path": "a"}, []),
    ],
)
def test_no_tool_runs_with_an_input_of_another_kind(
    given: Any, ran: Any, expected: list[str]
) -> None:
    story = Story().turn("go").reply(use("write", given)).tool("ok", input=ran)
    assert codes(args_complete(story.reply("done").final().end())) == expected
