"""summary_informed and summary_used: what the model that sums up reads, and what becomes of its
words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.checks.summaries import summary_informed, summary_used
from harness.core.history.history import History
from harness.core.values.messages import Message, Text, ToolResult, assistant, results, user
from tests.checks.histories import Story, codes, use

WISH = "Please never name a restaurant that cooks with nuts, because I am allergic to them."
PLAN = "Day one is for the fortress, day two is for the ships, and day four is free for you."
COST = "Does the hotel at the harbour have a lift, and what does one night cost for four?"
LIFT = "Hotel Harbour: lift to all floors, 1450 crowns a night, breakfast from seven."
KNOWN = "It has a lift to all floors, and a night there costs 1450 crowns with breakfast."
NOW = "Which of the days is free?"
SUMMARY = "They plan four days in Oslo; one of them must not eat nuts."
LATER = "They plan four days in Oslo and asked for a hotel with a lift."
TASK = "Summarise the conversation below."

PAST = [
    user(WISH), assistant(PLAN), user(COST), assistant(use("list", id="t1")),
    results(ToolResult("t1", LIFT)), assistant(KNOWN),
]  # fmt: skip
LINES = [
    f"User: {WISH}",
    f"Assistant: {PLAN}",
    f"User: {COST}",
    f"Tool: {LIFT}",
    f"Assistant: {KNOWN}",
]


def begun(first: Story | None = None, **start: Any) -> Story:
    """A conversation of three messages, and the third waits for its answer."""
    story = (first or Story(**start)).turn(WISH).reply(PLAN).final().turn(COST)
    story.reply(use("list", id="t1")).tool(LIFT).reply(KNOWN).final().turn(NOW)
    return story


def refused(story: Story | None = None) -> Story:
    """The request with all of it is too large."""
    return (story or begun()).fail(400, "V23", refused=("V23",), tokens=900)


def goes_on(story: Story, *blocks: str) -> History:
    """The next request has these texts in place of the past."""
    texts = tuple(map(Text, blocks))
    after = [Message("user", texts), user(NOW)] if texts else [user(NOW)]
    return story.reply("Day four.", messages=after, tokens=100).final().end()


def summed(*requests: list[Message], story: Story | None = None, says: str = SUMMARY) -> History:
    """A summary that is written by these requests, and used."""
    story = story or refused()
    for messages in requests:
        story.reply(says, purpose="compact", messages=messages)
    return goes_on(story, f"Summary of what was said:\n{says}")


def told(*lines: str) -> list[Message]:
    """The request of a transcript."""
    return [user("\n".join([TASK, *lines]))]


LOOK_ALIKES: dict[str, list[list[Message]]] = {
    "a transcript": [told(*LINES)],
    "the conversation and an instruction": [[*PAST, user("Summarise what was said so far.")]],
    "JSON": [[user(f"{TASK}\n{json.dumps(LINES)}")]],
    "two parts": [told(*LINES[:3]), told(f"So far: {SUMMARY}", *LINES[3:])],
    "parts and a summary of summaries": [
        told(*LINES[:2]),
        told(*LINES[2:]),
        told(SUMMARY, SUMMARY),
    ],
    "parts that cut a message": [told(*LINES[:2], LINES[2][:40]), told(LINES[2][40:], *LINES[3:])],
    "a result that is cleared": [told(*LINES[:3], "Tool: [old result cleared]", LINES[4])],
    "a result that is cut": [told(*LINES[:3], f"{LINES[3][:40]} [... 40 characters]", LINES[4])],
    "words that are cut with a notice": [told(f"{LINES[0][:50]} (33 more characters)", *LINES[1:])],
    "old messages that a note names": [told("[2 earlier messages left out]", *LINES[2:])],
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_model_that_is_shown_the_past_may_sum_it_up(name: str) -> None:
    history = summed(*LOOK_ALIKES[name])
    assert codes(summary_informed(history)) == []
    assert codes(summary_used(history)) == []


@pytest.mark.parametrize(("end", "found"), [("kroner.", []), ("", ["summary_informed.rest"])])
def test_the_blocks_of_an_answer_may_be_joined(end: str, found: list[str]) -> None:
    story = Story().turn(WISH).reply(Text("It costs nine hundred [a"), Text("night] kroner."))
    story = refused(story.final().turn(NOW))
    shown = told(f"User: {WISH}", f"Assistant: It costs nine hundred [anight] {end}")
    assert codes(summary_informed(summed(shown, story=story))) == found


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ([*LINES[:3], f"Tool: {LIFT}", KNOWN], []),
        ([*LINES[:3], f"Tool: {LIFT[:24]} [... cut ...] {LIFT[-20:]}", KNOWN], []),
        ([*LINES[:3], f"Tool: {LIFT[:11]} [... cut ...] {LIFT[20:]}", KNOWN], []),
        (["[150 characters cut]" + "\n".join(LINES)[150:]], []),
        (["[150 characters left out] 8z9BEEmcMp", *LINES[4:]], []),
        ([*LINES[:3], "Tool: It has one.", KNOWN], ["summary_informed.rest"]),
    ],
)
def test_a_result_that_the_request_has_in_part_may_be_shown_whole_or_in_another_part(
    shown: list[str], found: list[str]
) -> None:
    part = results(ToolResult("t1", f"{LIFT[:40]} [... cut ...] {LIFT[-12:]}"))
    past = [*PAST[:4], part, *PAST[5:], user(NOW)]
    story = begun().fail(400, "V23", refused=("V23",), tokens=900, messages=past)
    assert codes(summary_informed(summed(told(*shown), story=story))) == found


def test_what_stays_needs_no_summary() -> None:
    story = refused()
    story.reply(SUMMARY, purpose="compact", messages=told(*LINES[1:]))
    kept = [user(WISH), assistant("I see."), user(f"Summary: {SUMMARY}\n\n{NOW}")]
    assert codes(summary_informed(story.reply("x", messages=kept).final().end())) == []


WRONG: dict[str, tuple[list[str], set[str]]] = {
    "the head": (LINES[:2], {"words", "rest"}),
    "the end": (LINES[2:], {"words", "rest"}),
    "no user": ([LINES[1], *LINES[3:]], {"words"}),
    "words that are cut": ([LINES[0][:40], *LINES[1:]], {"words"}),
    "no result": ([*LINES[:3], LINES[4]], {"rest"}),
    "a gap": ([*LINES[:2], LINES[3], LINES[4]], {"words"}),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_model_was_not_shown_is_found(name: str) -> None:
    lines, rules = WRONG[name]
    found = set(codes(summary_informed(summed(told(*lines)))))
    assert found == {f"summary_informed.{rule}" for rule in rules}


def test_a_gap_between_two_parts_is_found() -> None:
    history = summed(told(*LINES[:2]), told(f"So far: {SUMMARY}", *LINES[3:]))
    assert codes(summary_informed(history)) == ["summary_informed.words"]


def test_a_notice_excuses_no_cut_of_the_users_words_where_they_fitted() -> None:
    lines = [f"{LINES[0][:50]} [33 more characters]", *LINES[1:]]
    fitted = begun().reply("hm", tokens=900)
    assert codes(summary_informed(summed(told(*lines), story=fitted))) == ["summary_informed.words"]


def test_words_of_another_session_may_stand_in_this_one_too() -> None:
    cut = told("[1 earlier message was left out]", *LINES[1:])
    beside = Story().of("side").turn(PLAN, "s1").reply("Fine.").final().of("main")
    assert codes(summary_informed(summed(cut, story=refused(begun(beside))))) == []


def _again(*lines: str) -> History:
    """A first summary of all, and a second one of these lines."""
    story = refused()
    story.reply(SUMMARY, purpose="compact", messages=told(*LINES))
    first = Message("user", (Text(f"Summary of what was said:\n{SUMMARY}"), Text(NOW)))
    story.reply("Day four.", messages=[first], tokens=100).final().turn("Sure?")
    after = [first, assistant("Day four."), user("Sure?")]
    story.fail(400, "V23", refused=("V23",), tokens=900, messages=after)
    story.reply(LATER, purpose="compact", messages=told(*lines))
    second = Message("user", (Text(f"Summary of what was said:\n{LATER}"), Text("Sure?")))
    return story.reply("Yes.", messages=[second], tokens=90).final().end()


def test_a_second_summary_is_written_from_the_first_or_from_all() -> None:
    new = (f"User: {NOW}", "Assistant: Day four.")
    assert codes(summary_informed(_again(f"Summary: {SUMMARY}", *new))) == []
    assert codes(summary_informed(_again(*LINES, *new))) == []
    assert codes(summary_informed(_again(*new))) == ["summary_informed.summary"]


@pytest.mark.parametrize("said", ["", LIFT])
def test_what_an_agent_writes_for_an_empty_result_is_its_own(said: str) -> None:
    """Two calls of the stored session have one id, so the agent gives one of them another."""
    calls = [use("list", id="same"), use("list", id="same")]
    stored = [assistant(*calls), results(ToolResult("same", said), ToolResult("same", ""))]
    story = Story().row(user(WISH), *stored, assistant(PLAN)).turn(NOW)
    past = [
        user(WISH),
        assistant(use("list", id="same"), use("list", id="same-2")),
        results(ToolResult("same", said or "(no output)"), ToolResult("same-2", "(no output)")),
        assistant(PLAN),
    ]
    story.fail(400, "V23", refused=("V23",), tokens=900, messages=[*past, user(NOW)])
    shown = told(f"User: {WISH}", f"Tool: {said}", f"Assistant: {PLAN}")
    assert codes(summary_informed(summed(shown, story=story))) == []


def test_a_kill_between_summary_and_use_explains_what_is_missing() -> None:
    story = refused()
    story.reply(SUMMARY, purpose="compact", messages=told(*LINES[:1])).killed()
    assert codes(summary_informed(goes_on(story, f"Summary:\n{SUMMARY}"))) == []


def _used(*blocks: str, request: str = TASK) -> list[str]:
    story = refused()
    story.reply(SUMMARY, purpose="compact", messages=[user("\n".join([request, *LINES]))])
    return codes(summary_used(goes_on(story, *blocks)))


def test_a_summary_stands_once_and_as_what_it_is() -> None:
    assert _used(f"Summary: {SUMMARY}") == []
    assert _used("[Earlier messages were left out.]") == []
    assert _used(SUMMARY, request="Summarise it, and begin with a heading.") == []
    assert _used() == ["summary_used.lost"]
    assert _used(SUMMARY) == ["summary_used.voice"]
    assert _used(f"Summary: {SUMMARY}", f"Memory: {SUMMARY}") == ["summary_used.twice"]


def test_a_summary_in_a_system_text_of_the_list_stands_once() -> None:
    story = refused()
    story.reply(SUMMARY, purpose="compact", messages=[user("\n".join([TASK, *LINES]))])
    rules = {"system": story.history.value(SUMMARY)}
    kept = [Message("system", (Text(SUMMARY),)), user(NOW)]
    story.reply("x", messages=kept, tokens=100, request=rules)
    assert codes(summary_used(story.final().end())) == []


def _failed(*blocks: str, told_user: bool = False, kept: list[Message] | None = None) -> list[str]:
    story = refused().fail(529, purpose="compact", messages=told(*LINES))
    if told_user:
        story.say("I have forgotten what we said.", "notice")
    if kept:
        story.reply("x", messages=[*kept, user(NOW)], tokens=100)
        return codes(summary_used(story.final().end()))
    return codes(summary_used(goes_on(story, *blocks)))


def test_an_error_that_the_user_showed_may_be_quoted_where_no_summary_came() -> None:
    error = "My log: Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error'}}"
    story = refused(
        Story().turn(WISH).reply(PLAN).final().turn(error).reply(KNOWN).final().turn(NOW)
    )
    story.fail(529, purpose="compact", messages=told(*LINES))
    quoted = goes_on(story, f"What was said:\nUser: {error[:40]}")
    assert codes(summary_used(quoted)) == []


def test_a_summary_that_failed_stands_for_nothing() -> None:
    error = "Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error'}}"
    assert _failed(f"Summary of what was said:\n{error}") == ["summary_used.error"]
    assert _failed(f"[Earlier messages were left out: {error}]") == []
    assert _failed() == ["summary_used.wiped"]
    assert _failed("Summary of what was said:") == ["summary_used.wiped"]
    assert _failed(told_user=True) == []
    assert _failed("[5 earlier messages are missing here.]") == []
    assert _failed("Summary of what was said: use [... shortened ...] Done.") == []
    assert _failed(kept=[user(WISH), assistant(PLAN)]) == []


@pytest.mark.parametrize(("ran", "found"), [(False, []), (True, ["summary_informed.rest"])])
def test_what_an_agent_stores_for_a_call_that_never_ran_is_its_own(
    ran: bool, found: list[str]
) -> None:
    """The stored session has a call without a result; or the tool said it in this run."""
    told_so = "No result: the program was started again while this ran."
    story = Story(stores=not ran)
    if not ran:
        story.row(assistant(use("list", id="t0")))
        story.live += [
            user(WISH),
            assistant(use("list", id="t0")),
            results(ToolResult("t0", told_so)),
        ]
        story.turn(NOW).row(results(ToolResult("t0", told_so)))
    else:
        story.turn(WISH).reply(use("list", id="t0")).tool(told_so)
        story.reply("x").final().turn(NOW)
    refused(story).reply(SUMMARY, purpose="compact", messages=told(*LINES))
    assert codes(summary_informed(goes_on(story, f"Summary of what was said:\n{SUMMARY}"))) == found


@pytest.mark.parametrize(
    ("note", "found"),
    [(" (The oldest part was left out of it.)", []), ("", ["summary_informed.words"])],
)
def test_the_agent_may_say_beside_the_summary_what_it_left_out(note: str, found: list[str]) -> None:
    story = refused().reply(SUMMARY, purpose="compact", messages=told(*LINES[1:]))
    assert codes(summary_informed(goes_on(story, f"Summary: {SUMMARY}{note}"))) == found


def test_a_note_beside_the_last_summary_may_be_that_of_the_next_one_too() -> None:
    note = "(The oldest part was left out of it.)"
    begun_so = begun(Story().turn(f"Summary: {LATER} {note}").reply("Good.").final())
    story = refused(begun_so).reply(SUMMARY, purpose="compact", messages=told(*LINES[1:]))
    assert codes(summary_informed(goes_on(story, f"Summary: {SUMMARY} {note}"))) == []
