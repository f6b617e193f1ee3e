"""Requests that a dialect refuses, and roles that alternate.

nonblank_content, wellformed_text and ends_with_user: what one provider lets pass.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.request_form import (
    ends_with_user,
    nonblank_content,
    role_alternation,
    valid_request,
    wellformed_text,
)
from harness.core.history.history import History, decode, encode
from harness.core.values.messages import Message, Opaque, Text, ToolResult, assistant, results, user
from tests.checks.histories import Story, codes, use


def test_a_refused_request_is_reported_by_its_rule() -> None:
    story = Story().turn("hi").fail(400, "V4", refused=("V4", "V9"))
    event = story.called
    found = list(valid_request(story.end()))
    assert codes(found) == ["valid_request.V4", "valid_request.V9"]
    assert [f.events for f in found] == [(event,), (event,)]


def test_a_rule_is_reported_once_a_turn() -> None:
    story = Story().turn("hi").fail(400, "V4", refused=("V4",)).fail(400, "V4", refused=("V4",))
    story.turn("ho").fail(400, "V4", refused=("V4",))
    assert codes(valid_request(story.end())) == ["valid_request.V4"] * 2


def test_a_prompt_over_the_window_is_no_invalid_request() -> None:
    story = Story().turn("hi").fail(400, "V23", refused=("V23",)).fail(400, "V24", refused=("V24",))
    assert not list(valid_request(story.end()))


def test_an_overloaded_provider_is_no_invalid_request() -> None:
    assert not list(valid_request(Story().turn("hi").fail(529).reply("hi").final().end()))


def test_two_user_messages_in_a_row_are_reported_once() -> None:
    story = Story(stores=False).turn("a").turn("b").reply("hi")
    event = story.called
    story.final().turn("c").reply("ho").final()
    found = [f for f in role_alternation(story.end()) if f.code == "role_alternation.wire"]
    assert [f.events for f in found] == [(event,)]


def test_results_and_text_in_two_user_messages_do_not_alternate() -> None:
    story = Story(seams=("model", "tool")).turn("a").reply(use("list")).tool()
    split = [*story.live, results(ToolResult("t1", "ok")), user("go on")]
    found = list(role_alternation(story.reply("x", messages=split).end()))
    assert codes(found) == ["role_alternation.wire"]


def test_the_wire_part_can_be_switched_off() -> None:
    story = Story(seams=("model", "inbox")).turn("a").turn("b").reply("hi").final()
    assert codes(role_alternation(story.history)) == ["role_alternation.wire"]
    assert not list(role_alternation(story.history, wire=False))


def test_several_tool_rows_and_a_system_row_alternate() -> None:
    tool = Message("tool", (ToolResult("t1", "ok"),))
    system = Message("system", (Text("note"),))
    messages = [system, user("a"), system, assistant("x"), tool, tool, user("b")]
    story = Story(seams=("model",)).turn("a").reply("x", messages=messages)
    assert not list(role_alternation(story.end()))


def test_a_system_row_does_not_part_two_user_messages() -> None:
    messages = [user("a"), Message("system", (Text("note"),)), user("b")]
    story = Story(seams=("model",)).turn("a").reply("x", messages=messages)
    assert codes(role_alternation(story.end())) == ["role_alternation.wire"]


def test_a_finished_turn_that_stores_no_reply_is_reported() -> None:
    story = Story(stores=False).turn("a").row(user("a"), labels=["m1"])
    stored = story.last
    found = list(role_alternation(story.reply("x").final().end()))
    assert codes(found) == ["role_alternation.store"]
    assert stored in found[0].events


def test_a_finished_turn_that_stores_two_replies_is_reported() -> None:
    story = Story().turn("a").reply("x").row(assistant("draft")).final()
    assert codes(role_alternation(story.end())) == ["role_alternation.store"]


def test_a_turn_of_tools_that_is_stored_whole_alternates() -> None:
    story = Story().turn("a").reply(use("list"), use("poll")).tool().tool().reply("x").final()
    assert not list(role_alternation(story.end()))


def test_a_turn_that_is_still_open_owes_no_reply() -> None:
    assert not list(role_alternation(Story().turn("a").reply("x").history))


def test_an_answer_that_was_paused_goes_on_in_the_next_row() -> None:
    search = Opaque("server_tool_use", {"type": "server_tool_use", "id": "s", "input": {}})
    story = Story().turn("one").reply("let me see", search, stop="pause_turn").reply("x").final()
    assert not list(role_alternation(story.end(), wire=False))
    story = Story().turn("one").reply("half").reply("x").final()
    assert codes(role_alternation(story.end(), wire=False)) == ["role_alternation.store"]


HALF = "half \ud83d"


def asked(*messages: Message, **called: Any) -> History:
    """A request of these messages."""
    return Story().turn("go").reply("x", messages=list(messages), **called).end()


def test_a_message_says_something() -> None:
    assert codes(nonblank_content(asked(user("go"), Message("assistant"), user("?")))) == [
        "nonblank_content.empty"
    ]
    assert codes(nonblank_content(asked(user(" \n")))) == ["nonblank_content.blank"]
    beside = assistant("\n\n", use("list", id="a"))
    found = nonblank_content(asked(user("go"), beside, results(ToolResult("a", "ok"))))
    assert codes(found) == ["nonblank_content.blank"]


def test_a_text_of_no_characters_beside_a_call_is_the_dialects_to_refuse() -> None:
    beside, result = assistant("", use("list", id="a")), results(ToolResult("a", "ok"))
    assert codes(nonblank_content(asked(user("go"), beside, result))) == []
    assert codes(nonblank_content(asked(user("go"), assistant(""), user("?")))) == [
        "nonblank_content.blank"
    ]


def test_an_empty_prefill_at_the_end_is_allowed() -> None:
    assert codes(nonblank_content(asked(user("go"), Message("assistant")))) == []


def test_a_result_without_text_is_allowed_unless_the_setting_says_otherwise() -> None:
    history = asked(user("go"), assistant(use("list", id="a")), results(ToolResult("a", " ")))
    assert codes(nonblank_content(history)) == []
    assert codes(nonblank_content(history, results=True)) == ["nonblank_content.blank"]


def test_a_blank_is_found_once_though_every_request_has_it() -> None:
    story = Story().turn("go").reply(" ", "ok").final("ok").turn("on").reply("y").turn("!")
    assert codes(nonblank_content(story.reply("z").end())) == ["nonblank_content.blank"]


def test_a_log_keeps_what_was_said_and_not_what_was_sent() -> None:
    history = History()
    history.started(run="log", scenario="log", world="recording", inferred=True, seams=("model",))
    history.events += asked(user(" ")).events[1:]
    assert codes(nonblank_content(history)) == []


def test_half_a_character_is_found_in_a_request_and_in_a_row() -> None:
    history = Story().turn(HALF).reply("x").final().end()
    assert codes(wellformed_text(history)) == ["wellformed_text.request", "wellformed_text.row"]


def test_half_a_character_is_found_in_a_file_as_in_the_run() -> None:
    history = Story().turn("go").reply(HALF).final("x").turn("on").reply("y").final().end()
    read = decode(encode(history.events))
    assert list(wellformed_text(read)) == list(wellformed_text(history))
    assert codes(wellformed_text(read)) != []


def test_an_escape_that_is_spelt_out_and_a_whole_emoji_are_text() -> None:
    story = Story().turn("what is \\ud83d?").reply("half \\ud83d \U0001f600").final()
    assert codes(wellformed_text(decode(encode(story.end().events)))) == []
    both = Story().turn("half \\ud83d").reply(HALF).final("ok").end()
    assert codes(wellformed_text(both)) == ["wellformed_text.row"]


def test_a_reply_that_is_half_a_character_and_goes_nowhere_is_the_models_own() -> None:
    history = Story(stores=False).turn("go").reply(HALF).final("x").end()
    assert codes(wellformed_text(history)) == []


def test_the_assistant_never_has_the_last_word() -> None:
    history = asked(user("go"), assistant("Ada is"))
    assert codes(ends_with_user(history)) == ["ends_with_user.assistant"]
    behind = asked(user("go"), assistant("Ada is"), Message("system"))
    assert codes(ends_with_user(behind)) == ["ends_with_user.assistant"]


def test_a_paused_answer_is_sent_back_and_again_after_a_failure() -> None:
    story = Story().turn("go").reply("Let me", stop="pause_turn")
    assert codes(ends_with_user(story.fail(529).reply("see.").final().end())) == []


def test_a_request_that_was_right_may_be_made_again_after_an_answer_that_is_none() -> None:
    story = Story().turn("go").reply("Let me", stop="pause_turn").reply("x", stop=None)
    sent = [user("go"), assistant("Let me")]
    assert codes(ends_with_user(story.reply("see.", messages=sent).final().end())) == []


def test_a_pause_excuses_its_own_session_and_no_later_request() -> None:
    story = Story().turn("go").reply("Let me", stop="pause_turn").reply("see.")
    assert codes(ends_with_user(story.reply("again").end())) == ["ends_with_user.assistant"]


def test_a_recording_may_have_a_prefill() -> None:
    story = Story(world="recording").turn("go").reply("x", messages=[user("go"), assistant("{")])
    assert codes(ends_with_user(story.end())) == []


def test_messages_of_the_user_that_were_stored_before_the_run_are_no_spiral() -> None:
    """An agent sends what is stored; only messages of this run show that it loses its replies."""

    def found(stored: int, own: int) -> set[str]:
        said = [user(f"Question {n}.") for n in range(stored + 1)]
        story = Story().turn("Question 0.").reply("One.", messages=said).final()
        for number in range(own):
            said.append(user(f"And {number}?"))
            story.turn(f"And {number}?").reply("Yes.", messages=said).final()
        return {*codes(role_alternation(story.end()))} & {"role_alternation.spiral"}

    assert found(5, 1) == set()
    assert found(0, 5) == found(5, 5) == {"role_alternation.spiral"}


@pytest.mark.parametrize(("kept", "found"), [("Two and two are four.", False), ("", True)])
def test_questions_that_are_kept_beside_a_summary_are_no_spiral(kept: str, found: bool) -> None:
    story, said = Story(), list[Any]()
    for number in range(4):
        said.append(user(f"Question {number}?"))
        story.turn(f"Question {number}?").reply("Four.", messages=[*said]).final()
        said.append(assistant("Four."))
    story.turn("And now?").reply("Two and two are four.", purpose="compact", messages=[*said])
    asked = [message for message in said if message.role == "user"]
    summary = [user(f"A summary of what was said: {kept}")] if kept else []
    story.reply("Yes.", messages=[*asked, *summary, user("And now?")]).final()
    assert ("role_alternation.spiral" in codes(role_alternation(story.end()))) is found
