"""An agent that waits without end is found; one whose wait has its reasons is not."""

from __future__ import annotations

import pytest

from harness.checks.budgets import bounded_wait
from harness.core.values.plans import Jump, Returned, Sent, Wait
from tests.checks.histories import codes
from tests.checks.sessions import Sessions

PINGS = {"steps": (Wait(3600000), Sent(240, 9)), "silent_ms": 3_600_000}


def test_a_stream_that_only_pings_is_found() -> None:
    run = Sessions().take().model(**PINGS)
    answered = run.last
    run.wait(3600).model()
    (finding,) = bounded_wait(run.say().end())
    assert finding.code == "bounded_wait.answer"
    assert finding.events == (answered, run.called - 2)


def test_whoever_gives_it_up_in_time_has_not_waited() -> None:
    run = Sessions().take().model(**PINGS).wait(150).model().say()
    assert not list(bounded_wait(run.end()))


def test_the_pause_before_a_retry_is_no_part_of_the_silence() -> None:
    for waited_s, found in ((186, []), (195, ["bounded_wait.answer"])):
        run = Sessions().take().model(**PINGS).wait(waited_s).model().say()
        assert codes(bounded_wait(run.end())) == found


def test_a_long_answer_that_says_something_is_no_silence() -> None:
    steps = (Sent(1, 9), Wait(3600000), Sent(240, 9))
    run = Sessions().take().model(steps=steps, silent_ms=15_000).wait(3600).say()
    assert not list(bounded_wait(run.end()))


def test_a_long_answer_that_then_falls_silent_is_found_if_it_is_waited_for() -> None:
    answer = {"steps": (Wait(3900000), Sent(9, 9)), "silent_ms": 300_000}
    assert codes(bounded_wait(Sessions().take().model(**answer).wait(3900).say().end())) == [
        "bounded_wait.answer"
    ]
    assert not list(bounded_wait(Sessions().take().model(**answer).wait(3700).say().end()))


def test_sleeping_for_no_reason_is_found_and_so_is_a_pause_of_a_day() -> None:
    run = Sessions().take().model(status=429).wait(181).model().say()
    assert codes(bounded_wait(run.end())) == ["bounded_wait.idle"]
    run = Sessions().take().model(status=429, retry_after="86400").wait(86_400).model().say()
    assert codes(bounded_wait(run.end())) == ["bounded_wait.idle"]


def test_a_pause_that_is_asked_for_is_granted_up_to_the_cap() -> None:
    run = Sessions().take().model(status=429, retry_after="110").wait(115).model().say()
    assert not list(bounded_wait(run.end(), idle_s=60))
    assert list(bounded_wait(run.history, idle_s=60, retry_after_s=100))


def test_a_tool_has_half_an_hour() -> None:
    hour, minutes = (Wait(3600000), Returned()), (Wait(1500000), Returned())
    run = Sessions().take().model().tool(steps=hour).wait(3600).model().say()
    assert codes(bounded_wait(run.end())) == ["bounded_wait.tool"]
    run = Sessions().take().model().tool(steps=minutes).wait(1500).model().say()
    assert not list(bounded_wait(run.end()))
    run = Sessions().take().model().tool(steps=hour).wait(1800).model().say()
    assert not list(bounded_wait(run.end()))


def test_what_stands_still_after_a_tool_has_answered_is_no_tool() -> None:
    run = Sessions().take().model().tool(steps=(Wait(1000), Returned())).wait(900).model().say()
    assert codes(bounded_wait(run.end())) == ["bounded_wait.idle"]


def test_time_asleep_with_the_machine_is_nobodys_wait() -> None:
    run = Sessions().take().model(steps=(Jump(9, 3600000),)).wait(3601)
    assert not list(bounded_wait(run.model().say().end()))


def test_all_sessions_sleep_with_the_machine() -> None:
    """A message of the other session waits while the answer to the first one is due."""
    run = Sessions().take().take("side").model(steps=(Jump(9, 3600000),)).wait(3600)
    assert not list(bounded_wait(run.model("side").say().say("side").end()))


def test_the_time_before_a_message_and_after_the_reply_is_the_users() -> None:
    run = Sessions().take(steps=(Wait(9000000),)).wait(9000).model().say().wait(9000)
    run.take(steps=(Wait(9000000),)).wait(9000).model().say("main", "error").wait(9000)
    assert not list(bounded_wait(run.end()))


@pytest.mark.parametrize("kind", ["notice", "partial", "heartbeat"])
def test_a_sign_of_life_is_an_event(kind: str) -> None:
    run = Sessions().take().model()
    for _ in range(10):
        run.wait(100).say("main", kind)
    assert not list(bounded_wait(run.model().say().end()))


def test_a_turn_that_just_stops_is_found_when_it_is_over() -> None:
    run = Sessions().take().model().wait(1000)
    assert not list(bounded_wait(run.history))
    assert codes(bounded_wait(run.end())) == ["bounded_wait.idle"]
    assert codes(bounded_wait(Sessions().take().model().wait(1000).take().end())) == [
        "bounded_wait.idle"
    ]


def test_a_message_that_was_answered_and_comes_again_needs_nothing() -> None:
    run = Sessions().take(name="m1").model().say().take(name="m1").wait(3600).take(name="m2")
    assert not list(bounded_wait(run.model().say().end()))
    run = Sessions().take(name="m1").model().say().take(name="m1").model().wait(3600).take()
    assert codes(bounded_wait(run.model().say().end())) == ["bounded_wait.idle"]


def test_who_waits_for_a_sub_agent_sees_it_work() -> None:
    run = Sessions().take().model()
    for _ in range(5):
        run.wait(100).model("child", parent="main")
    assert not list(bounded_wait(run.wait(100).model().say().end()))


def test_two_sessions_wait_each_for_itself() -> None:
    run = Sessions().take("main").take("other").model("main")
    for _ in range(5):
        run.wait(100).model("other")
    run.model("main").say("main").say("other")
    assert codes(bounded_wait(run.end())) == ["bounded_wait.idle"]


def test_a_recording_is_not_asked() -> None:
    assert not list(bounded_wait(Sessions("recording").take().model().wait(9999).model().end()))
