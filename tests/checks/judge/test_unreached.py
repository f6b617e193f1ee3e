"""An open script: what an agent did not reach is not a finding if it told its user how it ended."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.judge import judge
from harness.core.values.calls import InboxRequest
from harness.core.values.messages import Message, Text
from harness.core.values.verdict import Verdict
from tests.checks.histories import Story, codes

OWED: dict[str, Any] = {"unplayed": ("turn #2",), "silent_faults": ("http.status",)}


def _verdict(story: Story, **ended: Any) -> Verdict:
    return judge(story.end(**ended))


def _story(policy: str = "open", **settings: Any) -> Story:
    return Story(settings={"policy": policy, **settings}).turn("go")


def _listed(verdict: Verdict) -> dict[str, str]:
    return {n.check: n.reason for n in verdict.not_applicable if n.check.startswith("run")}


@pytest.mark.parametrize("kind", ["final", "error"])
def test_stopping_earlier_with_a_word_is_the_agents_policy(kind: str) -> None:
    story = _story().fail(529, faults=("http.overloaded",)).final("It failed.", "failed", kind)
    verdict = _verdict(story, **OWED)
    assert (verdict.verdict, codes(verdict.findings)) == ("pass", [])
    assert _listed(verdict) == {
        "run.unplayed_turn": "unreached: turn #2",
        "run.silent_fault": "unreached: http.status",
    }


def test_stopping_without_a_word_is_not() -> None:
    verdict = _verdict(_story().fail(529, faults=("http.overloaded",)), **OWED)
    assert {"run.unplayed_turn", "run.silent_fault"} <= set(codes(verdict.findings))


def test_of_a_strict_script_everything_is_owed() -> None:
    verdict = _verdict(_story("strict").reply("hi", script_turn=0).final(), **OWED)
    assert codes(verdict.findings) == ["run.unplayed_turn", "run.silent_fault"]


def test_the_faults_of_an_overlay_are_owed() -> None:
    story = _story(overlaid=True).reply("hi", script_turn=0).final()
    assert codes(_verdict(story, silent_faults=("sse.cut",)).findings) == ["run.silent_fault"]


@pytest.mark.parametrize(("must", "word"), [("no_blind_resend", "not_applicable"), ("", "pass")])
def test_a_kill_is_no_counterpart_of_a_fault_that_a_check_waits_for(must: str, word: str) -> None:
    """Of an agent that stores no picture, none is refused, with a kill and without one."""
    story = _story(expect={"must": [must]} if must else {}).reply("hi", faults=("gateway.killed",))
    verdict = _verdict(story.final(), silent_faults=("http.picture_refused",))
    assert (verdict.verdict, verdict.doubts) == (word, ())


def test_a_run_in_which_no_fault_fired_is_not_applicable() -> None:
    verdict = _verdict(_story().reply("hi", script_turn=0).final(), silent_faults=("sse.cut",))
    assert (verdict.verdict, codes(verdict.findings)) == ("not_applicable", [])
    assert verdict.not_applicable[0].check == "run"
    assert verdict.not_applicable[0].reason.startswith("unreached: ")


def test_a_run_in_which_no_turn_was_played_is_not_applicable() -> None:
    story = _story().fail(401).final("It failed.", "failed")
    assert _verdict(story, unplayed=("turn #1",)).verdict == "not_applicable"


def test_a_defect_of_such_a_run_is_a_defect() -> None:
    story = _story().fail(400, "V4", refused=("V4",)).final("It failed.", "failed")
    assert _verdict(story, unplayed=("turn #1",)).verdict == "fail"


def test_a_run_that_reached_everything_lists_nothing() -> None:
    verdict = _verdict(_story().reply("hi", script_turn=0).final())
    assert (verdict.verdict, _listed(verdict)) == ("pass", {})


@pytest.mark.parametrize(
    ("status", "found"),
    [("ok", []), ("failed", []), ("limit", []), ("cancelled", ["outcome"])],
)
def test_several_outcomes_may_be_true(status: str, found: list[str]) -> None:
    expect = {"outcome": ["completed", "failed_truthfully"]}
    verdict = _verdict(_story(expect=expect).reply("hi", script_turn=0).final(status=status))
    assert codes(verdict.findings) == [f"expect.{rule}" for rule in found]
    assert all("completed or failed_truthfully" in f.message for f in verdict.findings)


def test_a_cancel_that_came_when_its_turn_was_over_was_not_asked() -> None:
    expect = {"must": ["cancel_honoured"]}
    story = _story(expect=expect).reply("Here it is.", script_turn=0).final()
    said = {"id": "c1", "kind": "cancel", "session": "main"}
    asked = InboxRequest()  # for the next message, between two turns
    story.history.called(key="main/inbox#2", seam="inbox", session="main", turn=1, request=asked)
    story.history.answered(key="main/inbox#2", seam="inbox", session="main", turn=1, value=said)
    verdict = _verdict(story)
    assert verdict.verdict == "not_applicable"
    assert verdict.doubts == ()
    assert "unreached: the cancel came when its turn was over" in {
        lack.reason for lack in verdict.not_applicable
    }


def test_without_a_cancel_what_the_scenario_asks_for_is_a_doubt() -> None:
    story = _story(expect={"must": ["cancel_honoured"]}).reply("Here it is.", script_turn=0)
    verdict = _verdict(story.final())
    assert (verdict.verdict, len(verdict.doubts)) == ("unknown", 1)


@pytest.mark.parametrize(
    ("said", "refused", "word"),
    [
        ("go", ("V23",), "not_applicable"),
        ("go " * 400, ("V23",), "fail"),  # the message is what is too large
        ("go", (), "fail"),
    ],
)
def test_a_prompt_of_the_agent_above_the_window_leaves_nothing_to_ask(
    said: str, refused: tuple[str, ...], word: str
) -> None:
    story = Story(settings={"window_tokens": 100}).turn(said)
    story.fail(400, "V23" if refused else "", refused=refused, tokens=600)
    story.fail(400, "V23" if refused else "", refused=refused, tokens=600)
    verdict = _verdict(story, how="crashed")
    assert verdict.verdict == word
    if word == "not_applicable":
        assert verdict.not_applicable[0].reason.startswith("the agent's own prompt has 469 tokens")


@pytest.mark.parametrize(
    ("rules", "talk", "word"),
    [
        ("Sum up. " * 300, "go", "not_applicable"),
        ("Sum up.", "go " * 800, "fail"),  # the conversation is what is too large
    ],
)
def test_words_for_a_summary_above_the_window_leave_nothing_to_ask(
    rules: str, talk: str, word: str
) -> None:
    story = Story(settings={"window_tokens": 100}).turn("go")
    story.fail(400, "V23", refused=("V23",), tokens=120)
    asked = [Message("system", (Text(rules),)), Message("user", (Text(talk),))]
    size = {"tokens": (len(rules) + len(talk)) // 4, "size_bytes": len(rules) + len(talk) + 200}
    story.fail(400, "V23", purpose="compact", refused=("V23",), messages=asked, **size)
    verdict = _verdict(story.final("It failed.", "failed"))
    assert verdict.verdict == word
    if word == "not_applicable":
        assert verdict.not_applicable[0].reason.startswith("the agent's own prompt for a summary")
