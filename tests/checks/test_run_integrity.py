"""False greens, broken targets, limits: failures of a run, for any agent."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.expectations import doubts, limit, run, script, target
from harness.core.history.history import History
from tests.checks.histories import Story, codes


def _good() -> Story:
    return Story().turn("go").reply("x").final()


def test_a_good_run_is_green() -> None:
    history = _good().end(exit_code=0, real_wait_ms=1000)
    for check in (run, target, limit, script):
        assert not list(check(history))
    assert not list(doubts(history.trace))


def test_a_run_without_a_call_of_the_model_proves_nothing() -> None:
    story = Story().turn("go").final("hi")
    (finding,) = run(story.end())
    assert (finding.code, finding.events) == ("run.nothing_intercepted", (story.last,))


@pytest.mark.parametrize(("status", "is_found"), [("cancelled", False), ("ok", True)])
def test_an_agent_whose_turns_are_all_stopped_has_nothing_to_ask(
    status: str, is_found: bool
) -> None:
    story = Story().turn("go").cancel().final("I have stopped.", status)
    assert ("run.nothing_intercepted" in codes(run(story.end()))) is is_found


@pytest.mark.parametrize("how", ["crashed", "hung"])
def test_a_target_that_calls_elsewhere_and_breaks_is_told_both(how: str) -> None:
    history = Story().turn("go").end(how)
    assert codes(run(history)) == ["run.nothing_intercepted"]
    assert codes(target(history)) == [f"target.{how}"]


@pytest.mark.parametrize("error", ["limit.model_calls", "script.exhausted", "cassette.miss"])
def test_a_crash_at_an_answer_of_the_harness_is_no_finding_and_a_later_one_is(error: str) -> None:
    story = Story().turn("go").fail(400, error)
    assert codes(target(story.end("crashed"))) == []
    assert codes(target(Story().turn("go").fail(400, error).end("hung"))) == ["target.hung"]
    later = Story().turn("go").fail(400, error).turn("on").reply("a").final("a")
    assert codes(target(later.end("crashed"))) == ["target.crashed"]
    provider = Story().turn("go").fail(400, "V4").end("crashed")
    assert codes(target(provider)) == ["target.crashed"]


def test_a_recording_of_tools_only_intercepts_nothing_and_need_not() -> None:
    assert not list(run(Story(world="recording", seams=("tool",)).end()))


@pytest.mark.parametrize(
    ("code", "field", "names"),
    [
        ("run.unplayed_turn", "unplayed", ("script turn 2 (say 'x')",)),
        ("run.silent_fault", "silent_faults", ("http.status",)),
        ("run.live_socket", "live_sockets", ("api.example.com:443",)),
        ("run.undelivered", "undelivered", ("m2", "m3")),
        ("run.unplayed_message", "unplayed_messages", ("m2 (after tool#1)",)),
    ],
)
def test_false_greens(code: str, field: str, names: tuple[str, ...]) -> None:
    story = _good()
    found = list(run(story.end(**{field: names})))
    assert codes(found) == [code] * len(names)
    assert all(name in f.message for name, f in zip(names, found, strict=True))
    assert {f.events for f in found} == {(story.last,)}


def test_what_a_run_does_not_reach_after_its_last_restart_is_no_finding() -> None:
    text = "killed more often than limits.restarts = 3"
    left = {"unplayed": ("turn 2",), "silent_faults": ("http.status",), "undelivered": ("m2",)}
    history = _good().end("killed", text=text, **left)
    assert not list(run(history))
    assert list(doubts(history.trace)) == [f"the harness could not continue: {text}"]


def test_a_limit_is_named_once() -> None:
    story = Story().turn("go").fail(400, "limit.model_calls")
    first = story.last
    story.fail(400, "limit.model_calls")
    (finding,) = limit(story.end())
    assert (finding.code, finding.events) == ("limit.model_calls", (first,))


def test_a_run_whose_time_is_over_hit_a_limit() -> None:
    assert codes(limit(_good().end("limit"))) == ["limit.virtual_s"]


def test_going_on_past_the_script_is_reported_once() -> None:
    story = Story().turn("go").fail(400, "script.exhausted")
    first = story.last
    (finding,) = script(story.fail(400, "script.exhausted").end())
    assert (finding.code, finding.events) == ("script.exhausted", (first,))


@pytest.mark.parametrize(
    ("how", "fields", "word"),
    [("returned", {"real_wait_ms": 1001}, "real wait"), ("unable", {"text": "no port"}, "no port")],
)
def test_doubts(how: str, fields: dict[str, Any], word: str) -> None:
    (doubt,) = doubts(_good().end(how, **fields).trace)
    assert word in doubt


def test_a_run_that_was_broken_off_is_doubtful() -> None:
    assert list(doubts(_good().history.trace))
    assert list(doubts(History().trace))
    assert not list(doubts(Story(world="recording").history.trace))


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ({"list": {}, "fly": {}, "dig": {}}, "(3 blocks); no request offers fly or dig"),
        ({"list": {}}, "(3 blocks)"),
        ({}, "(3 blocks)"),
    ],
)
def test_a_turn_whose_tools_no_request_offers_says_so(tools: dict[str, Any], told: str) -> None:
    story = Story(settings={"tools": tools}).turn("go").reply("That is all.").final()
    (finding,) = run(story.end(unplayed=("script turn 1 (3 blocks)",)))
    assert finding.message == f"never played: script turn 1 {told}"
