"""Calls that are carried out once, and calls that are carried out again."""

from __future__ import annotations

from harness.checks.execution import effect_once
from harness.core.values.calls import ToolRequest
from tests.checks.histories import Story, codes, use

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
