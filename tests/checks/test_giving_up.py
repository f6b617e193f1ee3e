"""Agents that end a turn after a few failures, with a profile that says so and without."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.false_stops import no_false_stop
from harness.checks.judge import judge
from tests.checks.histories import Story, codes, use

EXPECT = {"outcome": "completed", "calls": {"tool": {"poll": {"min": 3}}}}


def _twice_failed(kind: str = "error", **settings: Any) -> list[str]:
    given = {
        "policy": "open",
        "expect": EXPECT,
        "profile": {"gives_up_after": 2},
        "tools": {"poll": {}},
        **settings,
    }
    story = Story(settings=given).turn("go")
    for number in range(2):
        story.reply(use("poll", {"number": number})).tool(f"failure {number}", error=True)
    status = "failed" if kind == "error" else ""
    story.final("It failed.", status, kind)
    return [f.code for f in judge(story.end()).findings if f.check == "expect"]


def test_giving_up_as_the_profile_says_is_no_finding() -> None:
    assert _twice_failed() == []


@pytest.mark.parametrize(
    "settings",
    [
        {"profile": {}},
        {"profile": {"gives_up_after": 3}},
        {"policy": "strict"},
    ],
)
def test_otherwise_the_scenario_is_owed(settings: dict[str, Any]) -> None:
    assert set(_twice_failed(**settings)) == {"expect.outcome", "expect.calls"}


def test_a_success_is_no_giving_up() -> None:
    assert _twice_failed("final") == ["expect.calls"]


def test_a_call_of_no_tool_may_be_the_last_failure() -> None:
    given = {"policy": "open", "profile": {"gives_up_after": 2}, "tools": {"poll": {}}}
    for settings, found in ((given, []), ({**given, "profile": {}}, ["no_false_stop.ended"])):
        story = Story(settings=settings).turn("go").reply(use("pol")).refuse("no such tool")
        story.reply(use("pol")).final("It failed.", "failed", "error")
        assert codes(judge(story.end(), only="no_false_stop").findings) == found


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"profile": {"capabilities": {"compaction": False}}}, []),
        ({"profile": {"capabilities": {"compaction": True}}}, ["expect.outcome"]),
        ({}, ["expect.outcome"]),
    ],
)
def test_without_compaction_a_prompt_that_is_too_long_may_end_the_turn(
    settings: dict[str, Any], found: list[str]
) -> None:
    given = {"policy": "open", "expect": {"outcome": "completed"}, **settings}
    story = Story(settings=given).turn("go").fail(400, "V23", refused=("V23",))
    story.final("The conversation is too long.", "failed", "error")
    assert codes(judge(story.end(), only="expect").findings) == found


def test_without_compaction_any_other_refusal_is_owed_as_before() -> None:
    profile = {"capabilities": {"compaction": False}}
    given = {"policy": "open", "expect": {"outcome": "completed"}, "profile": profile}
    story = Story(settings=given).turn("go").fail(529, "overloaded_error")
    story.final("It failed.", "failed", "error")
    assert codes(judge(story.end(), only="expect").findings) == ["expect.outcome"]


def test_a_call_of_an_answer_that_broke_off_does_not_end_a_row_of_refusals() -> None:
    """The user leaves three calls open, and the second answer is asked for twice."""
    story = Story().turn("go")
    for broken in (False, False, True, False):
        answer = {"complete": False, "outcome": "error"} if broken else {}
        story.reply(use("poll"), **answer)
        if broken:
            story._asked = []
            story.live.pop()
        else:
            story.ask("expired").refuse("Not run: the user did not allow it.")
    assert codes(no_false_stop(story.final(status="failed").end())) == []
