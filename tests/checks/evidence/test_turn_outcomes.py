"""Behind the harness's own answer nothing is judged; before it everything is."""

from __future__ import annotations

import pytest

from harness.checks.evidence.turn_outcomes import before_own_answers
from harness.checks.judge import judge
from harness.core.values.messages import Text, user
from harness.core.values.verdict import Verdict
from tests.checks.histories import Story, codes, use

OWN = ("limit.model_calls", "limit.virtual_s", "script.exhausted", "cassette.miss")


def _illegal(story: Story) -> Story:
    """A request that the dialect refuses."""
    return story.fail(400, "V4", refused=("V4",))


def _verdict(story: Story) -> Verdict:
    return judge(story.end())


@pytest.mark.parametrize("own", OWN)
def test_what_the_agent_does_behind_it_is_not_judged(own: str) -> None:
    story = Story().turn("go").fail(400, own)
    found = codes(_verdict(_illegal(story).final("It is done.")).findings)
    assert [code for code in found if code != own] == []


@pytest.mark.parametrize("own", OWN)
def test_a_defect_before_it_is_found(own: str) -> None:
    story = _illegal(Story().turn("go")).fail(400, own).final("No.", "failed")
    assert "valid_request.V4" in codes(_verdict(story).findings)


def test_without_it_the_same_requests_are_judged() -> None:
    story = _illegal(Story().turn("go").fail(400, "V8")).final("It is done.")
    found = codes(_verdict(story).findings)
    assert {"valid_request.V4", "truthful_outcome.failed"} <= set(found)


def test_a_loop_that_only_the_limit_ends_is_found() -> None:
    story = Story().turn("go")
    for _ in range(8):
        story.reply(use("list", {"path": "."})).tool("app.ini")
    found = codes(_verdict(story.fail(400, "limit.model_calls").final("No.", "failed")).findings)
    assert {"limit.model_calls", "no_progress_stop.same_call"} <= set(found)


def test_a_tool_whose_script_has_ended_answers_for_the_harness_too() -> None:
    story = Story().turn("go").reply(use("list"))
    key = story._key("tool")
    story.history.answered(**story._where(), key=key, seam="tool", error="script.exhausted")
    assert "valid_request.V4" not in codes(_verdict(_illegal(story)).findings)


def test_the_part_ends_with_that_answer_and_a_whole_run_is_its_own_part() -> None:
    story = Story().turn("go").fail(400, "limit.model_calls")
    last = story.last
    history = story.reply(Text("hi"), messages=[user("go"), user("go")]).final().end()
    assert before_own_answers(history).events == history.events[:last]
    whole = Story().turn("go").reply(Text("hi")).final().end()
    assert before_own_answers(whole) is whole
