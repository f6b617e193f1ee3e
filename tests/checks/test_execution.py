"""Tools that run with what the model said, and with what it did not."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.execution import args_complete
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


def test_a_call_of_an_answer_that_was_cut_is_not_run() -> None:
    found, events = _run(use("write", {"path": "a"}), complete=False)
    assert codes(found) == ["args_complete.incomplete"]
    assert found[0].events == events


@pytest.mark.parametrize("stop", ["max_tokens", "length", None, "refusal"])
def test_a_call_of_a_truncated_answer_is_not_run(stop: str | None) -> None:
    found, events = _run(use("write", {"path": "a"}), stop=stop)
    assert codes(found) == ["args_complete.truncated"]
    assert found[0].events == events


def test_a_call_is_run_with_the_input_that_was_said() -> None:
    found, events = _run(use("write", {"path": "a"}), input={"path": "b"})
    assert codes(found) == ["args_complete.changed"]
    assert found[0].events == events


def test_an_input_that_does_not_parse_is_not_repaired() -> None:
    block = type(use("write"))("", "write", '{"path": "a')
    assert codes(_run(block, input={"path": "a"})[0]) == ["args_complete.changed"]


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
