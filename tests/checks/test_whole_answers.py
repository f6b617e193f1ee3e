"""Answers that came whole: the agent asks on behind them, or does not read them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.whole_answers import answer_taken
from harness.core.values.messages import Message, assistant, user
from harness.core.values.plans import Sent, Wait
from tests.checks.histories import Story, codes, use

ASKED_ON, UNREAD = ["answer_taken.same_words"], ["answer_taken.unread"]
LEFT = ["answer_taken.left"]


def _asked_on(*answers: str, story: Story | None = None) -> Story:
    """A turn whose agent says "Go on." behind each answer."""
    story = story or Story().turn("go")
    sent: list[Message] = [user("go")]
    for text in answers:
        story.reply(text, messages=sent)
        sent = [*sent, assistant(text), user("Go on.")]
    return story


def _found(story: Story) -> list[str]:
    return codes(answer_taken(story.final().end()))


def test_the_fourth_request_behind_three_equal_answers() -> None:
    assert _found(_asked_on(*["It is done."] * 4)) == ASKED_ON
    assert _found(_asked_on(*["It is done."] * 3)) == []
    many = codes(answer_taken(_asked_on(*["It is done."] * 4).end(), repeats=4))
    assert many == []


def test_other_words_are_progress() -> None:
    assert _found(_asked_on("One.", "Two.", "Three.", "Four.", "Five.")) == []
    assert _found(_asked_on("One.", "One.", "Two.", "One.", "One.")) == []


def test_requests_that_do_not_add_to_the_last_one_are_other_questions() -> None:
    story = Story().turn("go")
    for n in range(5):
        story.reply("Yes.", messages=[user(f"Is part {n} good?")])
    assert _found(story) == []


def test_a_message_in_between_is_a_reason_to_ask() -> None:
    story = Story(settings={"profile": {"inbound": "steer"}}).turn("go")
    sent: list[Message] = [user("go")]
    for n in range(5):
        story.reply("It is done.", messages=sent)
        story.take(f"and {n}", f"n{n}", reader=True)
        sent = [*sent, assistant("It is done."), user(f"and {n}")]
    assert codes(answer_taken(story.final().end())) == []


@pytest.mark.parametrize(("second", "found"), [("b", UNREAD), ("a", [])])
def test_an_answer_whose_calls_have_one_id_may_be_asked_for_again(
    second: str, found: list[str]
) -> None:
    story = Story().turn("go")
    for _ in range(2):
        calls = use("list", {"n": 1}, id="a"), use("list", {"n": 2}, id=second)
        story.reply(*calls, messages=[user("go")])
    story.final("The calls have one id.", kind="error", status="failed")
    assert codes(answer_taken(story.end())) == found


def _again(*, kind: str = "error", status: str = "failed", **answer: object) -> list[str]:
    """A turn that asks the same twice, and its ending."""
    story = Story().turn("go")
    story.reply("It is done.", **answer)  # type: ignore[arg-type]
    story.reply("It is done.", messages=[user("go")])
    return codes(answer_taken(story.final("Sorry.", status, kind).end()))


def test_an_answer_that_is_asked_for_again_and_told_as_a_failure() -> None:
    assert _again() == UNREAD
    assert _again(faults=("sse.crlf_split",)) == UNREAD


def test_the_second_of_two_answers_may_be_the_reply() -> None:
    assert _again(kind="final", status="ok") == []


@pytest.mark.parametrize("fault", ["sse.garbage", "transport.latency", "sse.no_last_blank_line"])
def test_an_answer_that_a_fault_bent_may_be_unread(fault: str) -> None:
    assert _again(faults=(fault,)) == []


def test_an_answer_that_was_cut_is_not_whole() -> None:
    assert _again(stop="max_tokens") == []


SLOW = ("transport.trickle",)


def _left(
    story: Story | None = None,
    after_ms: int = 61_000,
    takes_ms: int = 80_000,
    faults: tuple[str, ...] = SLOW,
    **answer: Any,
) -> Story:
    """An answer of 3,000 bytes that takes its time, and the same question after a while."""
    story = (story or Story()).turn("go")
    steps = Wait(takes_ms), Sent(3_000, 3_000)
    streams = {"stream": True}
    story.reply("It is done.", request=streams, faults=faults, steps=steps, **answer)
    story.at_ms += after_ms
    return story.reply("It is done.", messages=[user("go")], request=streams).final()


def test_a_live_answer_is_left_and_asked_for_again() -> None:
    assert codes(answer_taken(_left().end())) == LEFT
    assert codes(answer_taken(_left(faults=(*SLOW, "sse.tiny_deltas")).end())) == LEFT


def test_an_answer_that_may_look_like_a_silent_one_may_be_left() -> None:
    assert codes(answer_taken(_left(takes_ms=110_000).end())) == []
    assert codes(answer_taken(_left(faults=(*SLOW, "sse.ping_flood")).end())) == []
    assert codes(answer_taken(_left(complete=False).end())) == []
    large_events = Story()
    large_events.provider = "openai-responses"
    assert codes(answer_taken(_left(story=large_events).end())) == []


def test_an_answer_that_has_ended_may_be_asked_for_again() -> None:
    assert codes(answer_taken(_left(after_ms=81_000).end())) == []


def test_a_message_in_between_may_end_a_live_answer() -> None:
    story = Story(settings={"profile": {"inbound": "interrupt"}}).turn("go")
    steps, streams = (Wait(80_000), Sent(3_000, 3_000)), {"stream": True}
    story.reply("It is done.", request=streams, faults=SLOW, steps=steps).take("no", reader=True)
    story.at_ms += 9_000
    story.reply("It is done.", messages=[user("go")], request=streams)
    assert codes(answer_taken(story.final().end())) == []


HELLO = "Good morning! What can I do for you?"


def _echoed(*texts: str, said: str = HELLO) -> list[str]:
    """Turns with these messages, each answered in the same words."""
    story = Story()
    for number, text in enumerate(texts):
        story.turn(text, f"m{number}").reply(said).final()
    return codes(answer_taken(story.end()))


def test_a_fourth_reply_of_its_own_is_answered() -> None:
    assert _echoed("Hi.", *[HELLO] * 4) == ["answer_taken.own_words"]
    assert _echoed("Hi.", *[HELLO] * 3) == []


def test_what_a_user_says_between_ends_the_series() -> None:
    assert _echoed("Hi.", *[HELLO] * 3, "Stop it.", *[HELLO] * 3) == []


def test_a_short_word_may_be_the_users_own() -> None:
    assert _echoed("Really?", *["Yes."] * 8, said="Yes.") == []


def test_an_echo_that_gets_an_answer_without_the_model_costs_nothing() -> None:
    story = Story().turn("Hi.", "m0").reply(HELLO).final()
    for number in range(8):
        story.turn(HELLO, f"n{number}").final(HELLO)
    assert codes(answer_taken(story.end())) == []
