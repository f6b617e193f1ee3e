"""Bounded turns, requests sent again, and compactions that help or do not."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.budgets import bounded_turn
from harness.checks.prompt_size import compaction_progress
from harness.checks.retries import no_blind_resend
from harness.core.values.messages import (
    Message,
    Opaque,
    Thinking,
    ToolResult,
    assistant,
    results,
    user,
)
from harness.core.values.plans import Close
from tests.checks.histories import Story, codes, loop, use

SHORT, SUM = [user("summary")], "compaction_progress"


def test_a_turn_of_more_requests_than_allowed_is_reported() -> None:
    story = loop(Story().turn("go"), "poll", 6)
    sixth = [e.n for e in story.history.trace.exchanges][5]
    (finding,) = bounded_turn(story.end(), max_requests=5)
    assert (finding.code, finding.events) == ("bounded_turn.requests", (sixth,))


def test_two_turns_of_as_many_requests_as_allowed_are_fine() -> None:
    story = loop(Story().turn("go"), "poll", 4).reply("x").final().turn("on")
    assert not list(bounded_turn(loop(story, "poll", 4).reply("x").end(), max_requests=5))


def test_retries_of_the_sdk_do_not_count() -> None:
    story = Story().turn("go").fail(529)
    for retry in range(1, 8):
        story.fail(529, sdk_retry=retry)
    assert not list(bounded_turn(story.end(), max_requests=2))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_sending_again_what_was_refused_is_reported(status: int) -> None:
    story = Story().turn("go").fail(status)
    first = story.called
    story.fail(status)
    (finding,) = no_blind_resend(story.end())
    assert (finding.code, finding.events) == ("no_blind_resend.same_request", (first, story.called))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 529, None])
def test_sending_again_what_may_pass_is_a_retry(status: int | None) -> None:
    story = Story().turn("go").reply(status=status).reply(status=status, sdk_retry=1).reply("x")
    assert not list(no_blind_resend(story.final().end()))


def test_a_retry_of_the_sdk_is_the_providers_wish() -> None:
    assert not list(no_blind_resend(Story().turn("go").fail(400).fail(400, sdk_retry=1).end()))


@pytest.mark.parametrize("stop", ["refusal", "model_context_window_exceeded"])
def test_asking_again_after_a_refusal_is_reported(stop: str) -> None:
    story = Story().turn("go").reply("no", stop=stop)
    story.reply("no", stop=stop, messages=story.live[:1])
    assert codes(no_blind_resend(story.end())) == ["no_blind_resend.same_request"]


def test_a_truncated_answer_may_be_asked_for_again_once() -> None:
    story = Story().turn("go").reply("lo", stop="max_tokens")
    story.reply("lo", stop="max_tokens", messages=story.live[:1])
    assert not list(no_blind_resend(story.history))
    story.reply("lo", stop="max_tokens", messages=story.live[:1])
    assert codes(no_blind_resend(story.end())) == ["no_blind_resend.same_request"]


def test_a_paused_answer_is_sent_back_and_not_asked_for_again() -> None:
    story = Story().turn("go").reply("I will look.", stop="pause_turn")
    assert not list(no_blind_resend(story.reply("It is here.").final().end()))
    again = Story().turn("go").reply("I will look.", stop="pause_turn")
    again.reply("It is here.", messages=again.live[:1])
    assert codes(no_blind_resend(again.end())) == ["no_blind_resend.same_request"]


def _asks_after_nothing(times: int, *blocks: Any, **answer: Any) -> Story:
    """A turn in which the model says nothing, and is asked the very same again."""
    story = Story().turn("go")
    for _ in range(times):
        story.reply(*blocks, messages=story.live[:1], **answer)
    return story


@pytest.mark.parametrize("nothing", [(), ("",), (" \n",), (Thinking("hm"),), (Thinking("hm"), "")])
def test_who_says_nothing_may_be_asked_the_same_twice_more(nothing: tuple[Any, ...]) -> None:
    assert codes(no_blind_resend(_asks_after_nothing(3, *nothing).history)) == []
    found = list(no_blind_resend(_asks_after_nothing(4, *nothing).end()))
    assert codes(found) == ["no_blind_resend.same_request"]
    assert "was answered with nothing" in found[0].message


def test_how_often_is_a_setting() -> None:
    history = _asks_after_nothing(3).end()
    assert codes(no_blind_resend(history, empty=1)) == ["no_blind_resend.same_request"]
    assert codes(no_blind_resend(history, empty=2)) == []


@pytest.mark.parametrize(
    "said", [("done",), (use("list"),), (Opaque("server_tool_use", {}),)], ids=str
)
def test_an_answer_of_any_kind_is_not_nothing(said: tuple[Any, ...]) -> None:
    assert codes(no_blind_resend(_asks_after_nothing(6, *said).end())) == []


def test_a_hint_makes_it_another_request() -> None:
    story = Story().turn("go")
    for times in range(6):
        story.reply("", messages=[user("go" + " Please answer." * times)])
    assert codes(no_blind_resend(story.end())) == []


def test_an_answer_in_between_begins_the_count_anew() -> None:
    story = _asks_after_nothing(2)
    story.reply("yes", messages=story.live[:1])
    for _ in range(3):
        story.reply("", messages=story.live[:1])
    assert codes(no_blind_resend(story.end())) == []


def test_retries_after_nothing_by_the_sdk_are_the_providers_wish() -> None:
    assert codes(no_blind_resend(_asks_after_nothing(6, sdk_retry=1).end())) == []


def test_silence_of_another_turn_does_not_count() -> None:
    story = _asks_after_nothing(3).final("I got no answer.", "failed", "error").turn("go")
    for _ in range(3):
        story.reply("", messages=[user("go")])
    assert codes(no_blind_resend(story.end())) == []


def test_a_shorter_request_after_a_refusal_is_another_one() -> None:
    assert not list(no_blind_resend(Story().turn("go").fail(400).reply("x", messages=SHORT).end()))


def test_the_same_request_in_a_later_turn_is_not_a_resend() -> None:
    story = Story().turn("go").fail(400).final("failed", "failed", "error").turn("go")
    story.fail(400, messages=[user("go")])
    assert not list(no_blind_resend(story.end()))


def _overflow(story: Story, tokens: int = 100, **called: object) -> Story:
    return story.fail(400, "V23", refused=("V23",), tokens=tokens, **called)


def test_a_compaction_that_helps_is_fine() -> None:
    story = _overflow(Story().turn("go")).reply("sum", purpose="compact")
    story.reply("x", messages=SHORT, tokens=10).final()
    assert not list(compaction_progress(story.end()))


def test_a_compaction_that_was_not_enough_is_not_tried_again() -> None:
    story = _overflow(Story().turn("go")).reply("sum", purpose="compact")
    first = story.called
    _overflow(story, 60, messages=SHORT)
    second = story.called
    story.reply("sum", purpose="compact", messages=SHORT)
    (finding,) = compaction_progress(story.end())
    assert finding.code == "compaction_progress.repeated"
    assert finding.events == (first, second, story.called)


def test_a_compaction_that_failed_is_not_tried_again() -> None:
    story = _overflow(Story().turn("go")).fail(400, purpose="compact")
    story.reply("sum", purpose="compact", messages=SHORT)
    assert codes(compaction_progress(story.end())) == ["compaction_progress.repeated"]


@pytest.mark.parametrize(("tokens", "found"), [(60, []), (90, ["compaction_progress.repeated"])])
def test_a_summary_that_is_too_large_is_asked_for_of_less(tokens: int, found: list[str]) -> None:
    story = _overflow(Story().turn("go"))
    story.fail(400, purpose="compact", messages=SHORT, tokens=90, too_large=True)
    story.reply("sum", purpose="compact", messages=[user("less")], tokens=tokens)
    assert codes(compaction_progress(story.end())) == found


def test_calls_in_place_of_a_summary_are_answered_within_one_compaction() -> None:
    def tried(*between: Message) -> list[str]:
        story = _overflow(Story().turn("go"))
        story.reply(use("sum_up", id="c1"), purpose="compact", messages=SHORT)
        story.reply("sum", purpose="compact", messages=[*SHORT, *between])
        return codes(compaction_progress(story.end()))

    answered = assistant(use("sum_up", id="c1")), results(ToolResult("c1", "no such tool"))
    assert tried(*answered) == []
    assert tried() == ["compaction_progress.repeated"]


def test_an_empty_summary_is_a_failed_compaction() -> None:
    story = _overflow(Story().turn("go")).reply(" ", purpose="compact")
    story.reply("sum", purpose="compact", messages=SHORT)
    assert codes(compaction_progress(story.end())) == ["compaction_progress.repeated"]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_empty_summary_is_asked_for_again_like_any_other_answer(times: int) -> None:
    story = _overflow(Story().turn("go"))
    for said in [" "] * times + ["sum"]:
        story.reply(said, purpose="compact", messages=SHORT)
    assert codes(compaction_progress(story.end())) == []
    again = ["no_blind_resend.same_request"] if times > 2 else []
    assert codes(no_blind_resend(story.history)) == again


def test_a_summary_that_the_agent_declines_has_no_effect_and_is_not_tried_again() -> None:
    story = _overflow(Story().turn("go")).say("shorter", "compaction", "started")
    story.reply("sum", purpose="compact").say("no use", "compaction", "failed")
    _overflow(story, 110, messages=SHORT)
    assert not list(compaction_progress(story.end()))
    story.reply("sum", purpose="compact", messages=SHORT)
    assert codes(compaction_progress(story.history)) == ["compaction_progress.repeated"]


def test_a_summary_that_makes_the_prompt_larger_is_reported() -> None:
    story = _overflow(Story().turn("go")).say("shorter", "compaction", "started")
    story.reply("sum", purpose="compact").say("shorter now", "compaction", "ended")
    _overflow(story, 110, messages=SHORT)
    assert codes(compaction_progress(story.end())) == ["compaction_progress.larger"]


def test_a_retry_of_an_overloaded_compaction_is_the_same_compaction() -> None:
    story = _overflow(Story().turn("go")).fail(529, purpose="compact")
    story.reply("sum", purpose="compact", sdk_retry=1).reply("x", messages=SHORT, tokens=10)
    assert not list(compaction_progress(story.final().end()))


def test_dropping_history_after_a_compaction_that_was_not_enough_is_fine() -> None:
    story = _overflow(Story().turn("go")).reply("sum", purpose="compact")
    _overflow(story, 60, messages=SHORT).reply("x", messages=[user("go")], tokens=5)
    assert not list(compaction_progress(story.final().end()))


def test_compacting_again_after_one_that_left_nearly_all_is_reported() -> None:
    story = Story().turn("go").reply("a", tokens=100).reply("sum", purpose="compact")
    story.reply("b", tokens=90).reply("sum", purpose="compact")
    assert codes(compaction_progress(story.end())) == ["compaction_progress.ratio"]
    assert not list(compaction_progress(story.history, ratio=0.95))


def test_compacting_again_in_a_later_turn_is_fine() -> None:
    story = Story().turn("go").reply("a", tokens=100).reply("sum", purpose="compact")
    story.reply("b", tokens=90).final().turn("on").reply("sum", purpose="compact").reply("c")
    assert not list(compaction_progress(story.final().end()))


def test_more_compactions_than_allowed_without_an_answer_are_reported() -> None:
    story = Story().turn("go")
    for part in range(3):
        story.reply("sum", purpose="compact", messages=[user(f"part {part}")])
    assert codes(compaction_progress(story.end())) == ["compaction_progress.too_many"]


def test_two_summaries_of_two_parts_are_fine() -> None:
    story = Story().turn("go")
    for part in range(2):
        story.reply("sum", purpose="compact", messages=[user(f"part {part}")])
    assert not list(compaction_progress(story.reply("x").final().end()))


def test_requests_to_which_a_redirect_leads_are_the_clients() -> None:
    def asked(status: int) -> list[str]:
        story = Story().turn("go")
        for _ in range(8):
            story.fail(status)
        return codes(bounded_turn(story.reply("x").final().end(), max_requests=5))

    assert asked(307) == []
    assert asked(500) == ["bounded_turn.requests"]


@pytest.mark.parametrize(("steps", "found"), [((Close(),), []), ((), [f"{SUM}.repeated"])])
def test_a_refusal_whose_body_breaks_off_may_be_asked_for_again(
    steps: tuple[Any, ...], found: list[str]
) -> None:
    """A client reads the body before it knows the status."""
    story = _overflow(Story().turn("go"))
    bent = {"faults": ("transport.extra_bytes_in_chunk",)} if steps else {}
    story.fail(413, purpose="compact", messages=SHORT, steps=steps, **bent)
    story.reply("sum", purpose="compact", messages=SHORT)
    assert codes(compaction_progress(story.end())) == found


@pytest.mark.parametrize(("tokens", "found"), [(40, []), (80, [f"{SUM}.repeated"])])
def test_after_a_refusal_that_broke_off_a_smaller_summary_may_be_asked_for(
    tokens: int, found: list[str]
) -> None:
    """A client that knows its status before the body broke off takes it for one of size."""
    story = _overflow(Story().turn("go"))
    bent: dict[str, Any] = {"steps": (Close(),), "faults": ("transport.answered_before_read",)}
    story.fail(413, purpose="compact", messages=[user("all of it")], tokens=80, **bent)
    story.reply("sum", purpose="compact", messages=[user("half of it")], tokens=tokens)
    assert codes(compaction_progress(story.end())) == found
