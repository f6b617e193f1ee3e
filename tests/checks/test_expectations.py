"""What a scenario expects, and what came."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.expectations import expect, waits_after_failures
from harness.core.values.messages import user
from harness.core.values.plans import Raise, Wait
from tests.checks.histories import Story, codes, loop, use


def _story(**expectation: Any) -> Story:
    return Story(settings={"expect": expectation})


def _once(story: Story) -> Story:
    return loop(story.turn("go"), "list", 2).reply("x").final()


def test_a_run_that_expects_nothing_is_fine() -> None:
    assert not list(expect(_once(Story()).end()))


def test_the_outcome_is_compared() -> None:
    assert not list(expect(_once(_story(outcome="completed")).end()))
    story = _once(_story(outcome="failed_truthfully"))
    (finding,) = expect(story.end())
    assert (finding.code, finding.events) == ("expect.outcome", (story.called,))


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        ({"model": {"max": 3}}, 0),
        ({"model": {"max": 2}}, 1),
        ({"model": {"min": 4}}, 1),
        ({"tool": {"list": {"min": 2, "max": 2}}}, 0),
        ({"tool": {"list": {"max": 1}, "write": {"min": 1}}}, 2),
    ],
)
def test_calls_are_counted(calls: dict[str, Any], count: int) -> None:
    assert codes(expect(_once(_story(calls=calls)).end())) == ["expect.calls"] * count


@pytest.mark.parametrize(("tries", "told"), [(1, True), (2, False)])
def test_a_failure_in_passing_without_another_try_is_told_first(tries: int, told: bool) -> None:
    story = _story(outcome="completed").turn("go")
    for _ in range(tries):
        story.fail(529)
    (finding,) = expect(story.final("Sorry.", "failed").end())
    words = "main/model#1 failed in passing, and is not tried again: the outcome is "
    assert finding.message.startswith(words) is told


def test_a_call_that_never_runs_is_told_with_the_request_that_asks_for_it_again() -> None:
    story = _story(calls={"tool": {"list": {"min": 1}}}).turn("go").reply(use("list"))
    story.reply("x", messages=[user("go")])
    (finding,) = expect(story.final().end())
    (first, again) = (e.called.key for e in story.history.trace.exchanges)
    told = f"the call of list in {first} never runs, and {again} asks the same again: "
    assert finding.message.startswith(told)
    story = _story(calls={"tool": {"list": {"min": 1}}}).turn("go").reply(use("list"))
    (finding,) = expect(story.end())
    assert "never runs: " in finding.message


@pytest.mark.parametrize(
    ("pushed", "late_ms", "count"), [(True, 0, 0), (True, 2500, 1), (False, 0, 1)]
)
def test_a_call_that_crossed_the_users_stop_is_not_counted(
    pushed: bool, late_ms: int, count: int
) -> None:
    """The stop was on its way to a program as its tool ran; the next turn runs the tool again."""
    story = Story(settings={"expect": {"calls": {"tool": {"deploy": {"max": 1}}}}})
    loop(story.turn("deploy it"), "deploy", 1).wait(late_ms)
    story.take(kind="cancel", pushed=pushed).final("Stopped.")
    story.wait(5000)
    loop(story.turn("now deploy it", "m2"), "deploy", 1).reply("It is deployed.").final()
    assert codes(expect(story.end())) == ["expect.calls"] * count


@pytest.mark.parametrize(("repeats", "count"), [(3, 1), (4, 0), (9, 0)])
def test_the_profiles_number_of_rounds_beats_the_count_of_a_file(repeats: int, count: int) -> None:
    """A, B, A, B, A, B, A: four rounds of A, and the file allows three."""
    profile = {"checks": {"no_progress_stop": {"repeats": repeats}}}
    story = Story(
        settings={"expect": {"calls": {"tool": {"list": {"max": 3}}}}, "profile": profile}
    )
    for n in range(4):
        loop(loop(story.turn("go") if n == 0 else story, "list", 1, {"n": n}), "write", 1)
    assert codes(expect(story.reply("x").final().end())) == ["expect.calls"] * count


def test_the_input_of_every_call_of_a_tool_is_compared() -> None:
    (first, _) = (e.request.input for e in _once(Story()).history.trace.executions)
    assert not list(expect(_once(_story(inputs={"list": first, "write": {"a": 1}})).end()))
    story = _once(_story(inputs={"list": {**first, "size": 1.0}}))
    found = list(expect(story.end()))
    assert [(f.code, f.message.rpartition(": ")[2]) for f in found] == [
        ("expect.inputs", "size (nothing, not 1.0)")
    ] * 2
    assert [f.events for f in found] == [(e.n,) for e in story.history.trace.executions]


@pytest.mark.parametrize("wanted", [None, "text", [], {"size": None}])
def test_an_input_of_another_kind_is_not_what_is_expected(wanted: Any) -> None:
    story = _once(_story(inputs={"list": wanted}))
    assert codes(expect(story.end())) == ["expect.inputs"] * 2


def test_the_call_too_many_is_the_proof() -> None:
    story = _once(_story(calls={"model": {"max": 2}}))
    third = story.history.trace.exchanges[2].n
    assert next(expect(story.end())).events == (third,)


def _waiting(story: Story) -> Story:
    return story.turn("go").fail(529).wait(500).fail(529).wait(2000).reply("x").wait(9).final()


@pytest.mark.parametrize(
    ("waits", "count"),
    [
        ([0.5, 2], 0),
        ({"schedule": [0.4, 2.1], "tolerance": 0.3}, 0),
        ([0.5], 1),
        ([0.5, 2.1], 1),
        ([], 1),
    ],
)
def test_the_schedule_of_waits_is_compared(waits: Any, count: int) -> None:
    story = _waiting(_story(waits_s=waits))
    assert codes(expect(story.end())) == ["expect.waits"] * count


def test_only_what_the_agent_adds_after_a_failure_is_a_wait() -> None:
    story = Story().turn("go").reply("x", stop="pause_turn").wait(700)
    story.reply(status=None, outcome="timeout", steps=(Wait(600), Raise("timeout"))).wait(600)
    story.fail(500).wait(250).reply("y")
    assert [gap for gap, _ in waits_after_failures(story.end().trace)] == [0.25]


def test_an_empty_schedule_expects_no_waits() -> None:
    assert not list(expect(_once(_story(waits_s=[])).end()))


@pytest.mark.parametrize(
    ("must_not", "count"),
    [
        ({"call": ["list"]}, 2),
        ({"call": ["write"]}, 0),
        ({"say": ["ALL DONE"]}, 1),
        ({"say": ["all undone"]}, 0),
        ({"say": ["all", "done"], "call": ["list"]}, 4),
    ],
)
def test_what_a_correct_agent_never_does(must_not: dict[str, Any], count: int) -> None:
    story = loop(_story(must_not=must_not).turn("go"), "list", 2).reply("All done.").final()
    assert codes(expect(story.end())) == ["expect.must_not"] * count


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ({"has": ["there are **17**\n apples", "No pears"]}, 0),
        ({"has": "Oranges"}, 1),
        ({"turn": 1, "has": "pears", "lacks": "APPLES"}, 2),
        ({"turn": 2, "once": ["no plums", "no pears"]}, 0),  # the final replaces its beginning
        ({"turn": 2, "once": ["no p", "apples"]}, 2),
        ({"turn": 3, "lacks": "pears"}, 0),
        ({"turn": 3, "has": "pears"}, 1),
        ({"session": "other", "has": "pears"}, 1),
        ({"session": "main", "pattern": r"\*\*\d+\*\*"}, 0),
        ([{"pattern": "^apples"}, {"turn": 2, "pattern": "^No p"}], 1),
    ],
)
def test_the_words_that_the_user_reads_are_compared(reply: Any, count: int) -> None:
    story = _story(reply=reply).turn("one").reply("x")
    story.say("There are ", "partial").final("**17** apples.")
    story.turn("two").reply("y").say("No pe", "partial").final("No pears; no plums.")
    assert codes(expect(story.end())) == ["expect.reply"] * count
